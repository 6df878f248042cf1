//! The form of detail columns: fields of a tag, a length and bytes, in any order. A reader skips tags that
//! it does not know, so that versions N and N−1 of the program read each other's rows; a writer leaves out
//! what has its ordinary value, so that an ordinary row's detail is empty.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::value::Damage;

/// Appends fields to a buffer.
pub(crate) struct Writer<'a>(pub(crate) &'a mut Vec<u8>);

impl Writer<'_> {
    /// A field of bytes.
    pub(crate) fn bytes(&mut self, tag: u8, bytes: &[u8]) {
        self.0.push(tag);
        varint(self.0, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
    /// A field of bytes, unless there are none.
    pub(crate) fn filled(&mut self, tag: u8, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.bytes(tag, bytes);
        }
    }
    /// A field whose presence is all it says.
    pub(crate) fn flag(&mut self, tag: u8, set: bool) {
        if set {
            self.bytes(tag, &[]);
        }
    }
    /// A number.
    pub(crate) fn int(&mut self, tag: u8, int: i64) {
        let zigzag = ((int << 1) ^ (int >> 63)) as u64;
        self.0.push(tag);
        self.0.push(varint_len(zigzag));
        varint(self.0, zigzag);
    }
    /// A number, unless it is zero.
    pub(crate) fn counted(&mut self, tag: u8, int: i64) {
        if int != 0 {
            self.int(tag, int);
        }
    }
    /// Something rare, as JSON.
    pub(crate) fn json(&mut self, tag: u8, thing: &impl Serialize) {
        self.bytes(tag, &to_json(thing));
    }
}

/// Something rare as JSON. Only for our own plain types, whose keys are strings and whose serializers never fail.
pub(crate) fn to_json(thing: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(thing).unwrap_or_default()
}

/// The fields of a detail column.
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Those of a column that may be null.
    pub(crate) fn of(bytes: Option<&'a [u8]>) -> Self {
        Self(bytes.unwrap_or_default())
    }

    fn take(&mut self) -> Option<(u8, &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        self.0 = rest;
        let len = usize::try_from(read_varint(&mut self.0)?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some((*tag, bytes))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u8, &'a [u8]), Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.take();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or_else(|| Damage::new("a detail field ends before its length")))
    }
}

/// Reads a number.
pub(crate) fn int(mut bytes: &[u8]) -> Result<i64, Damage> {
    match read_varint(&mut bytes) {
        Some(zigzag) if bytes.is_empty() => Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64)),
        _ => Err(Damage::new("a detail field is not a number")),
    }
}

/// Reads text.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Damage> {
    std::str::from_utf8(bytes).map_err(|_| Damage::new("a detail field is not UTF-8"))
}

/// Reads something rare.
pub(crate) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Damage> {
    serde_json::from_slice(bytes).map_err(|error| Damage::new(format!("a detail field: {error}")))
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

const fn varint_len(value: u64) -> u8 {
    let bits = 64 - value.leading_zeros();
    if bits == 0 { 1 } else { bits.div_ceil(7) as u8 }
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, -1, 63, 64, -64, -65, 1 << 40, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            Writer(&mut out).int(7, number);
            let fields: Vec<_> = Fields::of(Some(&out)).collect::<Result<_, _>>().unwrap();
            assert_eq!(fields.len(), 1);
            assert_eq!((fields[0].0, int(fields[0].1).unwrap()), (7, number));
        }
    }

    #[test]
    fn fields_come_back_in_order_and_empty_is_nothing() {
        let mut out = Vec::new();
        let long = vec![9; 300];
        let mut writer = Writer(&mut out);
        writer.bytes(1, b"");
        writer.filled(2, b"");
        writer.bytes(3, &long);
        writer.flag(4, false);
        writer.flag(5, true);
        let fields: Vec<_> = Fields::of(Some(&out)).collect::<Result<_, _>>().unwrap();
        assert_eq!(fields, [(1, &b""[..]), (3, &long[..]), (5, &b""[..])]);
        assert_eq!(Fields::of(None).count(), 0);
    }

    #[test]
    fn damage_is_told_and_never_panics() {
        let mut out = Vec::new();
        Writer(&mut out).bytes(1, b"hello");
        for cut in 1..out.len() {
            let told: Vec<_> = Fields::of(Some(&out[..cut])).collect();
            assert!(told.len() == 1 && told[0].is_err(), "{cut}");
        }
        assert!(int(&[0x80; 11]).is_err());
        assert!(int(&[]).is_err());
        assert!(text(&[0xff]).is_err());
    }
}
