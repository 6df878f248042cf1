//! The jobs of the company and how each behaves: a table. `<3-9>` in a line is a number that is drawn.

use crate::character::{Character, How, Trouble};

/// A job of which nothing else is said.
pub(crate) const ANYONE: Character = Character {
    job: "",
    seconds: 3.0,
    spread: 0.3,
    memory_mib: 12,
    cpu_permille: 60,
    lines: &["done"],
    result: None,
    trouble: Trouble::NONE,
};

/// Everybody else.
pub(crate) const CHARACTERS: &[Character] = &[
    Character {
        job: "check-stock",
        seconds: 2.1,
        lines: &["comparing shop and shelves", "<3-42> titles differ, all within limits"],
        trouble: Trouble {
            usual: 1,
            in_spell: 60,
            spells: 20,
            words: "shelf service: connection refused",
            ..Trouble::NONE
        },
        ..ANYONE
    },
    Character {
        job: "send-order-mails",
        seconds: 6.2,
        lines: &["<4-40> orders to confirm", "batch 1 sent", "batch 2 sent", "batch 3 sent"],
        trouble: Trouble {
            usual: 8,
            in_spell: 550,
            spells: 60,
            persists: 350,
            how: How::Exit(75),
            words: "421 4.7.0 mail.linden.example: try again later",
            ..Trouble::NONE
        },
        ..ANYONE
    },
    Character {
        job: "refresh-prices",
        seconds: 20.5,
        memory_mib: 46,
        cpu_permille: 120,
        lines: &[
            "Aurora: <3-180> prices changed",
            "Bridge & Sons: <3-180> prices changed",
            "Kestrel: <0-90> prices changed",
            "Nordwind: <3-180> prices changed",
            "Silver Pine: <0-60> prices changed",
        ],
        result: Some(r#"{"changed": <60-640>}"#),
        trouble: Trouble {
            usual: 12,
            in_spell: 300,
            spells: 30,
            persists: 200,
            words: "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
            ..Trouble::NONE
        },
        ..ANYONE
    },
    Character {
        job: "update-search-index",
        seconds: 41.0,
        spread: 0.22,
        memory_mib: 94,
        cpu_permille: 700,
        lines: &[
            "reading the catalogue",
            "shard 1 of 8 written",
            "shard 2 of 8 written",
            "shard 3 of 8 written",
            "shard 4 of 8 written",
            "shard 5 of 8 written",
            "shard 6 of 8 written",
            "shard 7 of 8 written",
            "shard 8 of 8 written",
            "index is live",
        ],
        trouble: Trouble {
            usual: 4,
            persists: 100,
            how: How::Exit(28),
            words: "write shard: no space left on device",
            ..Trouble::NONE
        },
        ..ANYONE
    },
    Character {
        job: "remind-baskets",
        seconds: 6.3,
        lines: &["baskets older than 6h, language de", "<12-80> reminders sent"],
        ..ANYONE
    },
    Character {
        job: "rebuild-thumbnails",
        seconds: 1_480.0,
        spread: 0.18,
        memory_mib: 110,
        cpu_permille: 850,
        lines: &[
            "240 covers at 320 pixels",
            "40 covers rendered",
            "80 covers rendered",
            "120 covers rendered",
            "160 covers rendered",
            "200 covers rendered",
            "240 covers rendered",
        ],
        ..ANYONE
    },
    Character { job: "autumn-sale", lines: &["sale: begin", "312 titles changed"], ..ANYONE },
    Character {
        job: "import-orders",
        seconds: 49.0,
        spread: 0.28,
        memory_mib: 190,
        cpu_permille: 300,
        lines: &[
            "page 1: <80-140> rows so far",
            "page 4: <340-480> rows so far",
            "page 8: <700-980> rows so far",
            "page 12: <1000-1500> rows so far",
            "done: <1000-1500> rows",
        ],
        result: Some(r#"{"rows": <1000-1500>}"#),
        trouble: Trouble {
            usual: 30,
            in_spell: 700,
            spells: 55,
            persists: 420,
            how: How::Exit(3),
            words: "ConnectionResetError: orders-db closed the connection",
            ..Trouble::NONE
        },
    },
    Character {
        job: "clean-orders",
        seconds: 9.2,
        memory_mib: 70,
        cpu_permille: 600,
        lines: &["checking 14 rules", "doubles: <0-9>, countries filled in: <2-31>"],
        trouble: Trouble {
            usual: 10,
            persists: 900,
            how: How::Exit(2),
            words: "rule 9: order <40000-49999> has no customer",
            ..Trouble::NONE
        },
        ..ANYONE
    },
    Character {
        job: "load-warehouse",
        seconds: 970.0,
        spread: 0.16,
        memory_mib: 210,
        cpu_permille: 380,
        lines: &[
            "loading orders",
            "loading order_lines",
            "loading customers",
            "loading titles",
            "loading publishers",
            "loading stock",
            "loading returns",
            "loading payments",
            "analysed, 8 tables",
        ],
        trouble: Trouble {
            usual: 130,
            persists: 150,
            how: How::Hangs,
            words: "waiting for a lock on table stock",
            ..Trouble::NONE
        },
        ..ANYONE
    },
    Character {
        job: "sales-report",
        seconds: 26.0,
        memory_mib: 88,
        cpu_permille: 500,
        lines: &["reading yesterday", "revenue <31000-58000> EUR, <900-1700> orders"],
        ..ANYONE
    },
    Character {
        job: "customer-segments",
        seconds: 2_890.0,
        spread: 0.12,
        memory_mib: 230,
        cpu_permille: 940,
        lines: &[
            "k-means, step 1",
            "k-means, step 2",
            "k-means, step 3",
            "k-means, step 4",
            "k-means, step 5",
        ],
        ..ANYONE
    },
    Character {
        job: "export-finance",
        seconds: 12.4,
        lines: &["exporting bookings", "<700-1600> bookings written"],
        trouble: Trouble {
            usual: 60,
            persists: 120,
            how: How::Exit(1),
            words: "sftp: accountants.example: Permission denied (publickey)",
            ..Trouble::NONE
        },
        ..ANYONE
    },
    Character {
        job: "archive-events",
        seconds: 92.0,
        memory_mib: 118,
        cpu_permille: 450,
        lines: &[
            "packed hour 1: <9000-13000> events",
            "packed hour 2: <9000-13000> events",
            "packed hour 3: <9000-13000> events",
            "packed hour 4: <9000-13000> events",
            "packed hour 5: <9000-13000> events",
            "packed hour 6: <9000-13000> events",
        ],
        trouble: Trouble { usual: 90, persists: 450, how: How::Oom, words: "packing", ..Trouble::NONE },
        ..ANYONE
    },
    Character {
        job: "sync-carriers",
        seconds: 9.4,
        memory_mib: 22,
        lines: &[
            "Swift: <40-240> parcels moved",
            "Parzel: <40-240> parcels moved",
            "RedVan: <10-90> parcels moved",
        ],
        trouble: Trouble {
            usual: 15,
            in_spell: 800,
            spells: 70,
            persists: 650,
            how: How::Exit(69),
            words: "RedVan: 503 Service Unavailable",
            ..Trouble::NONE
        },
        ..ANYONE
    },
    Character {
        job: "sync-carrier-nord",
        seconds: 3.0,
        lines: &["nord.example: <2-19> parcels moved"],
        trouble: Trouble {
            usual: 12,
            persists: 100,
            last_hours: 20,
            how: How::Exit(77),
            words: "nord.example: 401 Unauthorized: contract ended",
            ..Trouble::NONE
        },
        ..ANYONE
    },
    Character { job: "print-labels", seconds: 1.3, lines: &["labels ready", "printed"], ..ANYONE },
    Character {
        job: "pick-lists",
        seconds: 8.2,
        memory_mib: 40,
        cpu_permille: 800,
        lines: &["planning walks", "<6-26> lists, longest walk <280-520> m"],
        ..ANYONE
    },
    Character {
        job: "read-returns",
        seconds: 15.2,
        spread: 0.1,
        lines: &["<0-5> returns announced"],
        ..ANYONE
    },
    Character {
        job: "back-up-database",
        seconds: 1_110.0,
        spread: 0.1,
        memory_mib: 96,
        cpu_permille: 220,
        lines: &[
            "part 1 of 10 copied",
            "part 3 of 10 copied",
            "part 5 of 10 copied",
            "part 7 of 10 copied",
            "part 9 of 10 copied",
            "part 10 of 10 copied",
            "backup is complete",
        ],
        trouble: Trouble {
            usual: 70,
            persists: 100,
            how: How::Exit(1),
            words: "rsync: connection unexpectedly closed (10737418240 bytes received so far) [sender]",
            ..Trouble::NONE
        },
        ..ANYONE
    },
    Character {
        job: "verify-backup",
        seconds: 93.0,
        memory_mib: 100,
        cpu_permille: 500,
        lines: &["restoring", "comparing 1,000 rows: equal"],
        ..ANYONE
    },
    Character {
        job: "probe-shop",
        seconds: 1.2,
        lines: &[
            "GET / 200 in <80-140> ms",
            "POST /orders 201 in <140-230> ms",
            "DELETE /orders 204 in <50-90> ms",
        ],
        trouble: Trouble {
            usual: 3,
            in_spell: 240,
            spells: 25,
            persists: 300,
            how: How::Exit(22),
            words: "POST /orders 502 in 10004 ms",
            ..Trouble::NONE
        },
        ..ANYONE
    },
    Character {
        job: "report-disks",
        seconds: 0.05,
        lines: &[
            "Filesystem      Size  Used Avail Use% Mounted on",
            "/dev/vda        252G  <60-90>G  <160-190>G  <24-36>% /",
        ],
        ..ANYONE
    },
    Character {
        job: "renew-certificates",
        seconds: 1.9,
        lines: &["shop.linden.example: <30-89> days left", "mail.linden.example: <30-89> days left"],
        ..ANYONE
    },
];
