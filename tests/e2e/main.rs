//! End-to-end tests: through the real socket, the real database, and practice phones over real HTTP.

mod acting;
mod artifacts;
mod command_line;
mod crash;
mod faults;
mod framings;
mod golden;
mod importing;
mod learning;
mod lifecycle;
mod limits;
mod methods;
mod notes;
mod observing;
mod practice_phone;
mod privileged;
mod refs;
mod screenshots;
mod secrets;
mod settings;
mod sharing;
mod subscription;
mod traces;
mod usb;
mod visual;
mod waiting;
