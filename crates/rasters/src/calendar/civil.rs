//! Days and months by number: what of the calendar is the same in every zone.

use jiff::civil::date;

/// Months from January of year 0 to the month of a day (days since 1970-01-01).
pub(super) fn month_of_day(day: i64) -> i64 {
    let days = jiff::Span::new().days(day.clamp(-700_000, 2_900_000));
    let date = date(1970, 1, 1).saturating_add(days);
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}

/// The first day of a month (months from January of year 0), in days since 1970-01-01.
/// Months beyond the years 0 to 9999 are taken for the nearest end.
pub(super) fn day_of_month(month: i64) -> i64 {
    let year = i16::try_from(month.div_euclid(12)).unwrap_or(if month < 0 { i16::MIN } else { i16::MAX });
    let month = i8::try_from(month.rem_euclid(12) + 1).expect("1 to 12");
    let first = date(year.clamp(0, 9_999), month, 1);
    let span = first.since(date(1970, 1, 1)).expect("days between dates");
    i64::from(span.get_days())
}

/// The day so many months later (negative: earlier), or the last of that month if it has no such day.
pub(super) fn add_months(day: i64, months: i64) -> i64 {
    let month = month_of_day(day);
    let target = month.saturating_add(months);
    let first = day_of_month(target);
    (first + (day - day_of_month(month))).min(day_of_month(target.saturating_add(1)).max(first + 1) - 1)
}
