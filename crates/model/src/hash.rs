//! One stable 64-bit hash for choices that must come out the same on every machine and in every replay:
//! jitter, random and consistent-hash placement, the cell of a namespace. Not for hash maps, not for secrets.

/// SplitMix64's finisher: every input bit moves every output bit.
pub const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A hash of bytes: FNV-1a, then mixed.
pub const fn bytes(input: &[u8]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < input.len() {
        hash = (hash ^ input[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    mix(hash)
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_never_change() {
        // Stored decisions depend on these: a change here is a change of format.
        assert_eq!(super::mix(1), 0x5692_161d_100b_05e5);
        assert_eq!(super::bytes(b""), 0xf52a_15e9_a9b5_e89b);
        assert_eq!(super::bytes(b"acme"), 0x130a_7622_2d44_27ef);
        assert_eq!(super::bytes(b"acme/data"), 0xea9a_66dd_1b5f_a9c6);
        assert_eq!(super::bytes(b"\xff\x00\x80"), 0x3860_53f1_efb4_a7f5);
    }
}
