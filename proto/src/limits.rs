//! Constraints on parameter values that their types do not express. A field declares its constraints once, after its
//! type (see `types!`). The schema, the validation of calls, the error messages and the command-line help are derived
//! from the declaration.

/// Values that a field accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Numbers between the two bounds, inclusive.
    Numbers(f64, f64),
    /// Strings whose number of characters is between the two bounds, inclusive, and that do not consist only of
    /// whitespace. If the lower bound is 0, the empty string is accepted as well.
    Characters(usize, usize),
    /// Lists whose number of items is between the two bounds, inclusive.
    Items(usize, usize),
}

/// Constraint on a field: its range or its default. A field with both has two entries.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// Name of the field in Rust, which is its wire name in snake case.
    pub field: &'static str,
    /// Accepted values; `None` if they are not limited.
    pub range: Option<Range>,
    /// Function that returns the default as a user would type it on the command line, or that returns `None` for a
    /// switch. The field itself is `None` if there is no default.
    #[cfg(feature = "clap")]
    pub default: Option<fn() -> Option<String>>,
}

/// Error for a value that is outside the range of its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutOfRange {
    /// Name of the field on the wire.
    pub field: String,
    /// Accepted values, such as `1 to 100`.
    pub expected: String,
    /// Description of the received value; never contains the content of a string.
    pub got: String,
}

/// An object whose fields may have limits.
pub trait Limited {
    /// Constraints on the object's fields.
    const LIMITS: &'static [Limit];

    /// Checks that the value of each field is within its range.
    ///
    /// # Errors
    /// Returns an error for the first field whose value is outside its range.
    fn check(&self) -> Result<(), OutOfRange>;
}

/// A value that can be limited to a range.
pub trait Measured {
    /// Checks that a value is within a range.
    ///
    /// # Errors
    /// Returns a description of the value if it is outside the range.
    fn within(&self, range: Range) -> Result<(), String>;
}

impl<T: Measured> Measured for Option<T> {
    fn within(&self, range: Range) -> Result<(), String> {
        self.as_ref().map_or(Ok(()), |value| value.within(range))
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => { $(
        impl Measured for $ty {
            fn within(&self, range: Range) -> Result<(), String> {
                match range {
                    Range::Numbers(from, to) if !(from..=to).contains(&(*self as f64)) => Err(self.to_string()),
                    _ => Ok(()),
                }
            }
        }
    )* };
}
numbers!(u16, u32, u64, i32, i64, f64);

impl Measured for String {
    fn within(&self, range: Range) -> Result<(), String> {
        let Range::Characters(from, to) = range else { return Ok(()) };
        match self.chars().count() {
            0 if from == 0 => Ok(()),
            _ if self.trim().is_empty() => Err("only whitespace".to_owned()),
            length if (from..=to).contains(&length) => Ok(()),
            length => Err(format!("{length} characters")),
        }
    }
}

impl<T> Measured for Vec<T> {
    fn within(&self, range: Range) -> Result<(), String> {
        match range {
            Range::Items(from, to) if !(from..=to).contains(&self.len()) => Err(format!("{} items", self.len())),
            _ => Ok(()),
        }
    }
}

/// A type of field that may have a default.
pub trait Absent: Sized {
    /// Type of the value, or a borrowed form of it.
    type Value<'a>
    where
        Self: 'a;

    /// Returns the value of a field, or the default if the value is absent.
    fn or<'a>(value: &'a Option<Self>, default: Self::Value<'a>) -> Self::Value<'a>;

    /// Returns a value as a user would type it on the command line, or `None` for a switch.
    #[cfg(feature = "clap")]
    fn typed(value: Self::Value<'_>) -> Option<String>;
}

macro_rules! absent {
    ($typed:expr; $($ty:ty),*) => { $(
        impl Absent for $ty {
            type Value<'a> = $ty;

            fn or(value: &Option<$ty>, default: $ty) -> $ty {
                value.unwrap_or(default)
            }

            #[cfg(feature = "clap")]
            fn typed(value: $ty) -> Option<String> {
                let typed: fn(&$ty) -> Option<String> = $typed;
                typed(&value)
            }
        }
    )* };
}
absent!(|value| Some(value.to_string()); u32, u64, i64, f64);
absent!(|_| None; bool, crate::vocabulary::HintsWanted);

impl Absent for String {
    type Value<'a> = &'a str;

    fn or<'a>(value: &'a Option<String>, default: &'a str) -> &'a str {
        value.as_deref().unwrap_or(default)
    }

    #[cfg(feature = "clap")]
    fn typed(value: &str) -> Option<String> {
        Some(value.to_owned())
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Range::Numbers(from, to) => write!(f, "{from} to {to}"),
            Range::Characters(from, to) => write!(f, "{from} to {to} characters"),
            Range::Items(0, to) => write!(f, "at most {to} items"),
            Range::Items(from, to) => write!(f, "{from} to {to} items"),
        }
    }
}

/// Checks the value of a field; `field` is the field's name in Rust.
///
/// # Errors
/// Returns an error if the value is outside the range.
pub fn check(field: &str, value: &impl Measured, range: Range) -> Result<(), OutOfRange> {
    value.within(range).map_err(|got| OutOfRange { field: camel(field), expected: range.to_string(), got })
}

/// Converts the name of a field in Rust to its name on the wire.
fn camel(field: &str) -> String {
    let mut parts = field.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let mut letters = part.chars();
        name + &letters.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_outside_are_named_but_not_quoted() {
        let out = |field: &str, expected: &str, got: &str| {
            Err(OutOfRange { field: field.to_owned(), expected: expected.to_owned(), got: got.to_owned() })
        };
        assert_eq!(check("max_rows", &Some(0u32), Range::Numbers(1.0, 9.0)), out("maxRows", "1 to 9", "0"));
        assert_eq!(check("limit", &None::<u32>, Range::Numbers(1.0, 9.0)), Ok(()));
        assert_eq!(check("share", &0.5, Range::Numbers(0.0, 1.0)), Ok(()));
        assert_eq!(check("share", &f64::NAN, Range::Numbers(0.0, 1.0)), out("share", "0 to 1", "NaN"));
        assert_eq!(check("text", &"äöü".to_owned(), Range::Characters(1, 3)), Ok(()));
        let long = "secret".to_owned();
        assert_eq!(check("text", &long, Range::Characters(1, 3)), out("text", "1 to 3 characters", "6 characters"));
        assert_eq!(
            check("text", &"  ".to_owned(), Range::Characters(0, 3)),
            out("text", "0 to 3 characters", "only whitespace")
        );
        assert_eq!(check("text", &String::new(), Range::Characters(0, 3)), Ok(()));
        assert_eq!(check("tags", &vec![1, 2], Range::Items(0, 1)), out("tags", "at most 1 items", "2 items"));
    }
}
