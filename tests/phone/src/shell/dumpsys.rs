//! `dumpsys`: the lines that clients read.

use super::{Call, Output, props};
use crate::scene::Window;
use crate::server::lock;

pub(super) fn dumpsys(call: &Call<'_>) -> Output {
    let args = call.rest();
    let text = match args.first().copied() {
        Some("window") => window(call),
        Some("activity") => activity(call, args.get(1).copied()),
        Some("input_method") => input_method(call),
        Some("battery") => "Current Battery Service state:\n  AC powered: false\n  USB powered: true\n  Wireless powered: false\n  Max charging current: 500000\n  Max charging voltage: 5000000\n  Charge counter: 3000000\n  status: 2\n  health: 2\n  present: true\n  level: 77\n  scale: 100\n  voltage: 4200\n  temperature: 250\n  technology: Li-ion\n".to_owned(),
        Some("power") => "  mWakefulness=Awake\n  mHoldingDisplaySuspendBlocker=true\n".to_owned(),
        Some("display") => display(call),
        Some("input") => {
            let turn = lock(call.phone).turn();
            format!("  Viewport INTERNAL: displayId=0, uniqueId=local:4619827259835644672, port=0, orientation={turn}\n  SurfaceOrientation: {turn}\n")
        }
        Some("SurfaceFlinger") => "Display 4619827259835644672 (HWC display 0): port=0 pnpId=GGL displayName=\"\"\n".to_owned(),
        Some("package") => package(call, args.get(1).copied()),
        Some("deviceidle" | "meminfo" | "cpuinfo" | "netstats" | "wifi" | "telephony.registry") => String::new(),
        Some("-l") => "Currently running services:\n  activity\n  battery\n  display\n  input\n  input_method\n  package\n  power\n  window\n".to_owned(),
        Some(other) => return Output::failed(format!("Can't find service: {other}\n"), 0),
        None => String::new(),
    };
    Output::text(text)
}

fn display(call: &Call<'_>) -> String {
    let phone = lock(call.phone);
    let (scene, turn) = (phone.scene(), phone.turn());
    let (width, height) = (scene.width, scene.height);
    format!(
        "  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, isActive=true, displayId=0, uniqueId='local:4619827259835644672', physicalPort=0, orientation={turn}, logicalFrame=Rect(0, 0 - {width}, {height}), physicalFrame=Rect(0, 0 - {width}, {height}), deviceWidth={width}, deviceHeight={height}}}]\n"
    )
}

/// Returns a component with the whole name of its class.
fn whole(component: &str) -> String {
    match component.split_once("/.") {
        Some((package, class)) => format!("{package}/{package}.{class}"),
        None => component.to_owned(),
    }
}

fn window(call: &Call<'_>) -> String {
    let phone = lock(call.phone);
    let (scene, top) = (phone.scene(), phone.top_activity());
    let name = |window: &Window| match window.kind {
        "APPLICATION" => whole(&top),
        "INPUT_METHOD" => "InputMethod".to_owned(),
        _ => window.title.clone().unwrap_or_else(|| "StatusBar".to_owned()),
    };
    let in_front = |window: &Window| match phone.frozen() {
        Some(app) => format!("Application Not Responding: {app}"),
        None => name(window),
    };
    let focus =
        scene.active().map_or("null".to_owned(), |window| format!("Window{{{:x} u0 {}}}", window.id, in_front(window)));
    let keyboard = scene.windows.iter().find(|window| window.kind == "INPUT_METHOD");
    let mut text =
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n  Display: mDisplayId=0 (organized)\n".to_owned();
    let (width, height) = (scene.width, scene.height);
    text += &format!(
        "    init={width}x{height} 420dpi mMinSizeOfResizeableTaskDp=220 cur={width}x{height} app={width}x{height}\n"
    );
    text += &format!("  mRotation=ROTATION_{}\n", u32::from(phone.turn()) * 90);
    text += "  mShowingLockscreen=false mShowingDream=false mDreamingLockscreen=false\n  interactiveState=INTERACTIVE_STATE_AWAKE\n";
    if let Some(keyboard) = keyboard {
        let bounds = keyboard.root.bounds;
        text += &format!(
            "    InsetsSource id=3 type=ime frame=[{},{}][{},{}] visible=true flags=\n",
            bounds.l, bounds.t, bounds.r, bounds.b
        );
    }
    text += &format!("  mCurrentFocus={focus}\n  mFocusedApp=ActivityRecord{{7d3c2b1 u0 {top} t12}}\n");
    for (index, window) in scene.windows.iter().enumerate() {
        text += &format!(
            "  Window #{index} Window{{{:x} u0 {}}}:\n    mBaseLayer={}\n",
            window.id,
            name(window),
            window.layer
        );
    }
    text
}

fn activity(call: &Call<'_>, part: Option<&str>) -> String {
    let phone = lock(call.phone);
    let top = phone.top_activity();
    match part {
        Some("top") => format!("TASK 10:{0} id=12\n  ACTIVITY {top} 7d3c2b1 pid=4242\n", phone.foreground().0),
        _ => format!(
            "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n  topResumedActivity=ActivityRecord{{7d3c2b1 u0 {top} t12}}\n  mResumedActivity: ActivityRecord{{7d3c2b1 u0 {top} t12}}\n  ResumedActivity: ActivityRecord{{7d3c2b1 u0 {top} t12}}\n"
        ),
    }
}

fn input_method(call: &Call<'_>) -> String {
    let shown = lock(call.phone).scene().windows.iter().any(|window| window.kind == "INPUT_METHOD");
    let method = props::input_method(call);
    format!(
        "Current Input Method Manager state:\n  mCurMethodId={method}\n  mInputShown={shown}\n  mImeWindowVis={}\n  mIsInputViewShown={shown}\n  inputType=0x1\n",
        u8::from(shown) * 3
    )
}

fn package(call: &Call<'_>, name: Option<&str>) -> String {
    let phone = lock(call.phone);
    match name.filter(|name| phone.apps.iter().any(|app| app.package == *name)) {
        Some(name) => {
            format!(
                "Packages:\n  Package [{name}] (5d6e7f8):\n    versionCode=34 minSdk=24 targetSdk=34\n    versionName=1.0\n    firstInstallTime=2026-01-01 00:00:00\n    runtime permissions:\n"
            ) + &phone
                .permissions
                .iter()
                .filter_map(|granted| granted.strip_prefix(&format!("{name} ")))
                .map(|permission| format!("      {permission}: granted=true, flags=[ USER_SET ]\n"))
                .collect::<String>()
        }
        None => format!("Unable to find package: {}\n", name.unwrap_or_default()),
    }
}
