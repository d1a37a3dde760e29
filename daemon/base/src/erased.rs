//! Type-erased values, whose types only the sender and the receiver know. Code that passes such values on is compiled
//! only once instead of once per type. Without this, the code for the database queues, background threads and tasks
//! would make up a third of the program.

use std::any::Any;

/// A value of any type.
pub type Value = Box<dyn Any + Send>;

/// Erases the type of a value.
pub fn hide<T: Send + 'static>(value: T) -> Value {
    Box::new(value)
}

/// Returns a value that was erased by [`hide`] with its original type.
///
/// # Panics
/// If the value does not have type `T`, which is a bug in the caller.
pub fn reveal<T: 'static>(value: Value) -> T {
    match value.downcast() {
        Ok(value) => *value,
        Err(_) => unreachable!("expected {}", std::any::type_name::<T>()),
    }
}

/// Erases the types of a result's value and error.
pub fn hide_result<T: Send + 'static, E: Send + 'static>(result: Result<T, E>) -> Result<Value, Value> {
    match result {
        Ok(value) => Ok(hide(value)),
        Err(error) => Err(hide(error)),
    }
}

/// Returns a result that was erased by [`hide_result`] with its original types.
///
/// # Panics
/// If the value or error does not have the expected type, which is a bug in the caller.
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
