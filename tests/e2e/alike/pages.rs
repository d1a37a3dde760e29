//! The pages that the browser shows: those of the practice phone's settings, and some more.

pub const ALL: &[(&str, &str)] = &[
    (
        "/",
        "<!doctype html><title>Settings</title><style>a{display:block;padding:12px}</style><h1>Settings</h1><ul>
         <li><a href='/wifi'>Wi-Fi<br><small>Connected</small></a><li><a href='/bluetooth'>Bluetooth<br><small>Pair new device</small></a>
         <li><a href='/storage'>Storage<br><small>46% used</small></a><li><a href='/sound'>Sound<br><small>Volume</small></a>
         <li><a href='/display'>Display<br><small>Dark theme</small></a></ul><div style='height:3000px'></div>
         <a href='/about'>About phone<br><small>Model</small></a>",
    ),
    (
        "/wifi",
        "<!doctype html><title>Wi-Fi</title><h1>Wi-Fi</h1><label><input type=checkbox checked> Use Wi-Fi</label>
         <ul><li><button>Home network, Connected</button><li><button>Cafe, Saved</button><li><button>Cafe, Open</button>
         <li><a href='/details'>Network details</a></ul>",
    ),
    ("/details", "<!doctype html><title>Network details</title><h1>Network details</h1><button>Forget</button>"),
    (
        "/bluetooth",
        "<!doctype html><title>Bluetooth</title><h1>Bluetooth</h1><label><input type=checkbox> Use Bluetooth</label>",
    ),
    ("/storage", "<!doctype html><title>Storage</title><h1>Storage</h1><p>59 GB used</p><button>Navigate up</button>"),
    ("/sound", "<!doctype html><title>Sound</title><h1>Sound</h1><button>Media volume</button>"),
    ("/display", "<!doctype html><title>Display</title><h1>Display</h1><button>Brightness</button>"),
    ("/about", "<!doctype html><title>About phone</title><h1>About phone</h1><button>Model</button>"),
    ("/shop", "<!doctype html><title>Shop</title><h1>Shop</h1><button>Lamps</button><button>Chairs</button>"),
    (
        "/bank",
        "<!doctype html><title>Bank</title><h1>Sign in</h1><label>User name <input id='user_field'></label>
         <label>Password <input type='password' id='password_field'></label><button>Sign in</button>",
    ),
];
