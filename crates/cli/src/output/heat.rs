//! Heat maps: a row for each day, a column for each hour. Shades where colours belong, numbers elsewhere, so that what is piped
//! or read aloud loses nothing.

use anstyle::{Ansi256Color, Color, Style};

use super::paint::{DIM, Paint};

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shade {
    /// Blocks that grow and grow warmer.
    Colours,
    /// The numbers themselves.
    Numbers,
}

/// A day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeatRow {
    /// What it is called.
    pub(crate) label: String,
    /// A number for each hour; none outside of what is told.
    pub(crate) hours: [Option<u64>; 24],
}

/// From little to much: the block, and its colour of 256. Both grow, for those who see colours alike.
const LEVELS: [(&str, u8); 8] =
    [("▁▁", 24), ("▂▂", 31), ("▃▃", 37), ("▄▄", 71), ("▅▅", 142), ("▆▆", 178), ("▇▇", 208), ("██", 196)];
const NOTHING: &str = "··";

impl Shade {
    /// What suits standard output: `NO_COLOR`, pipes and `--color` are heard.
    pub(crate) fn of_stdout() -> Self {
        match anstream::AutoStream::choice(&std::io::stdout()) {
            anstream::ColorChoice::Never => Self::Numbers,
            _ => Self::Colours,
        }
    }
}

/// The map and, with shades, its legend.
pub(crate) fn heat_map(rows: &[HeatRow], shade: Shade) -> String {
    let most = rows.iter().flat_map(|row| row.hours).flatten().max().unwrap_or(0);
    let label_width = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let cell_width = match shade {
        Shade::Colours => 2,
        Shade::Numbers => most.to_string().len().max(2) + 1,
    };
    let heading = (0..24).map(|hour| match (shade, hour % 3) {
        (Shade::Colours, 1..) => " ".repeat(cell_width),
        _ => format!("{hour:0>2}").pad(cell_width),
    });
    let mut lines = vec![format!("{:label_width$} {}", "", heading.collect::<String>())];
    for row in rows {
        let cells: String = row.hours.iter().map(|number| cell(*number, most, shade, cell_width)).collect();
        lines.push(format!("{:label_width$} {cells}", row.label));
    }
    if shade == Shade::Colours && most > 0 {
        let levels: String =
            LEVELS.iter().map(|(block, color)| block.paint(coloured(*color)).to_string()).collect();
        lines.push(format!("{:label_width$} {} none, 1 {levels} {most}", "", NOTHING.paint(DIM)));
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<&str>>().join("\n")
}

fn cell(number: Option<u64>, most: u64, shade: Shade, width: usize) -> String {
    match (number, shade) {
        (None, _) => " ".repeat(width),
        (Some(0), Shade::Colours) => NOTHING.paint(DIM).to_string(),
        (Some(number), Shade::Colours) => {
            let (block, color) = LEVELS[level(number, most)];
            block.paint(coloured(color)).to_string()
        }
        (Some(0), Shade::Numbers) => ".".pad(width),
        (Some(number), Shade::Numbers) => number.to_string().pad(width),
    }
}

/// The largest number alone has the highest level's end; every number but zero has a level.
fn level(number: u64, most: u64) -> usize {
    let levels = LEVELS.len() as u128;
    let level = (u128::from(number) * levels).div_ceil(u128::from(most.max(1))).clamp(1, levels) - 1;
    level as usize
}

fn coloured(color: u8) -> Style {
    Style::new().fg_color(Some(Color::Ansi256(Ansi256Color(color))))
}

/// Whether this is the number of one of our shades.
pub(super) fn is_shade(number: &str) -> bool {
    LEVELS.iter().any(|(_, color)| color.to_string() == number)
}

/// A map with every style in it.
#[cfg(test)]
pub(super) fn sample() -> String {
    let hours = std::array::from_fn(|hour| Some(hour as u64));
    heat_map(&[HeatRow { label: "Mon".to_owned(), hours }], Shade::Colours)
}

/// Text at the right of its place.
trait Pad {
    fn pad(&self, width: usize) -> String;
}

impl Pad for str {
    fn pad(&self, width: usize) -> String {
        format!("{self:>width$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days() -> Vec<HeatRow> {
        let mut hours = [None; 24];
        hours[20..].copy_from_slice(&[Some(0), Some(1), Some(40), Some(120)]);
        let next = [Some(0); 24];
        vec![
            HeatRow { label: "Mon 2027-01-04".to_owned(), hours },
            HeatRow { label: "Tue 2027-01-05".to_owned(), hours: next },
        ]
    }

    #[test]
    fn numbers_stand_under_their_hours() {
        let map = heat_map(&days(), Shade::Numbers);
        let lines: Vec<&str> = map.lines().collect();
        assert_eq!(lines.len(), 3, "{map}");
        assert!(lines[0].starts_with("                 00  01  02"), "{map}");
        assert!(lines[1].starts_with("Mon 2027-01-04  "), "{map}");
        assert!(lines[1].ends_with("   .   1  40 120"), "{map}");
        assert_eq!(lines[0].len(), lines[1].len(), "{map}");
        assert!(!map.contains('\x1b'), "{map}");
    }

    #[test]
    fn shades_grow_and_the_legend_says_how_far() {
        let map = heat_map(&days(), Shade::Colours);
        let lines: Vec<&str> = map.lines().collect();
        let plain = |line: &str| anstream::adapter::strip_str(line).to_string();
        assert_eq!(plain(lines[0]).trim(), "00    03    06    09    12    15    18    21");
        assert_eq!(plain(lines[1]), format!("Mon 2027-01-04 {}··▁▁▃▃██", " ".repeat(40)));
        assert_eq!(plain(lines[2]), format!("Tue 2027-01-05 {}", "··".repeat(24)));
        assert!(plain(lines[3]).ends_with("·· none, 1 ▁▁▂▂▃▃▄▄▅▅▆▆▇▇██ 120"), "{map}");
        assert!(lines[1].contains("\x1b[38;5;196m██"), "{map:?}");
    }

    #[test]
    fn every_number_has_a_level() {
        assert_eq!([1, 2, 7, 8].map(|number| level(number, 8)), [0, 1, 6, 7]);
        assert_eq!((level(1, 1), level(1, u64::MAX), level(u64::MAX, u64::MAX)), (7, 0, 7));
    }
}
