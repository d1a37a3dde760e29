//! Type-erased values: only the sender and the receiver know the type. Code that passes such values on is compiled once
//! instead of once per type. Before, the queues of the database, background threads and tasks made up a third of the
//! program's code.

use std::any::Any;

/// A value of any type.
pub type Value = Box<dyn Any + Send>;

/// Hides the type of a value.
pub fn hide<T: Send + 'static>(value: T) -> Value {
    Box::new(value)
}

/// Returns a value hidden by [`hide`] as its original type.
///
/// # Panics
/// If the value has another type, which is a bug in the caller.
pub fn reveal<T: 'static>(value: Value) -> T {
    match value.downcast() {
        Ok(value) => *value,
        Err(_) => unreachable!("expected {}", std::any::type_name::<T>()),
    }
}

/// Hides the types of the value and the error of a result.
pub fn hide_result<T: Send + 'static, E: Send + 'static>(result: Result<T, E>) -> Result<Value, Value> {
    match result {
        Ok(value) => Ok(hide(value)),
        Err(error) => Err(hide(error)),
    }
}

/// Returns a result hidden by [`hide_result`] with its original types.
///
/// # Panics
/// As for [`reveal`].
pub fn reveal_result<T: 'static, E: 'static>(result: Result<Value, Value>) -> Result<T, E> {
    match result {
        Ok(value) => Ok(reveal(value)),
        Err(error) => Err(reveal(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_as_they_went_in() {
        assert_eq!(reveal::<String>(hide("a".to_owned())), "a");
        assert_eq!(reveal_result::<u8, String>(hide_result::<u8, String>(Ok(3))), Ok(3));
        assert_eq!(reveal_result::<u8, String>(hide_result::<u8, String>(Err("no".to_owned()))), Err("no".to_owned()));
    }
}
