//! Values whose type only their sender and their receiver know. What passes them on is compiled once instead of for
//! each type: the queues of the database, background threads and tasks were a third of the program's code before.

use std::any::Any;

/// A value of any type.
pub type Value = Box<dyn Any + Send>;

/// Hides the type of a value.
pub fn hide<T: Send + 'static>(value: T) -> Value {
    Box::new(value)
}

/// Returns a value whose type was hidden.
///
/// # Panics
/// If it has another type, which is a fault of the code that calls this.
pub fn reveal<T: 'static>(value: Value) -> T {
    match value.downcast() {
        Ok(value) => *value,
        Err(_) => unreachable!("expected {}", std::any::type_name::<T>()),
    }
}

/// Hides the types of a result.
pub fn hide_result<T: Send + 'static, E: Send + 'static>(result: Result<T, E>) -> Result<Value, Value> {
    match result {
        Ok(value) => Ok(hide(value)),
        Err(error) => Err(hide(error)),
    }
}

/// Returns a result whose types were hidden.
///
/// # Panics
/// As [`reveal`].
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
