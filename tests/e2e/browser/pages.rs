//! The pages of the local web server.

const FORM: &str = r#"<!doctype html><title>Order</title><h1>Order form</h1>
<form onsubmit="event.preventDefault();out.textContent='Sent '+this.who.value+' '+this.colour.value+' '+this.day.value+' '+this.news.checked">
<label>Name <input name="who" required></label> <label>Password <input type="password" name="secret"></label>
<label>Colour <select name="colour"><option>Red<option>Green<option disabled>Grey</select></label>
<label>Day <input type="date" name="day"></label> <label><input type="checkbox" name="news"> Newsletter</label>
<button>Send</button> <button type="button" disabled>Cancel</button></form><p id="out">nothing</p>
<div onclick="out.textContent='row'" style="width:200px">A row that listens</div>
<p style="visibility:hidden">not to be seen</p><a href="/second">Second page</a>"#;
pub const PAGES: &[(&str, &str)] = &[
    ("/", FORM),
    (
        "/switches",
        "<!doctype html><title>Switches</title><label>Note <input id='note'></label><p id='out'>-</p>
         <button id='texts' role='switch' aria-checked='false' onclick=\"flip(this)\">Delivery texts: <b>off</b></button>
         <button role='switch' aria-checked='false' onclick=\"flip(this)\">Always on</button>
         <label><input type='radio' name='r' checked>Red</label><label><input type='radio' name='r'>Blue</label>
         <button onclick=\"document.body.append(document.createElement('hr'), 'Kept');out.innerHTML='<ul><li>Kept</ul>'\">Keep</button>
         <script>function flip(one) { const on = one.getAttribute('aria-checked') !== 'true'; one.setAttribute('aria-checked', on);
         if (one.id) one.querySelector('b').textContent = on ? 'on' : 'off'; }</script>",
    ),
    (
        "/second",
        // The text has half of a character, as texts cut by scripts do.
        "<!doctype html><title>Second</title><h1>The second page</h1><a href='/'>Back to the order</a><p id='cut'></p>
         <script>cut.textContent = 'cut \\ud83c'</script>",
    ),
    (
        "/dialogs",
        "<!doctype html><title>Dialogs</title><button onclick=\"out.textContent=confirm('Really delete?')?'deleted':'kept'\">Delete</button>
         <button onclick=\"out.textContent='named '+prompt('New name?','old')\">Rename</button><button onclick=\"alert('Saved')\">Save</button><p id='out'>-</p>",
    ),
    (
        "/parts",
        "<!doctype html><title>Parts</title><iframe srcdoc=\"<button onclick='this.textContent=&quot;Frame tapped&quot;'>In a frame</button>\"></iframe>
         <my-part></my-part><script>customElements.define('my-part', class extends HTMLElement { connectedCallback() {
         let root = this.attachShadow({mode: 'open'}); root.innerHTML = '<button>In a shadow</button>';
         root.firstChild.onclick = event => event.target.textContent = 'Shadow tapped'; } })</script>",
    ),
    (
        "/tools",
        r#"<!doctype html><title>Tools</title><p id="out">nothing in the basket</p><a href="/second">Second page</a>
         <form toolname="find" tooldescription="Fills in the search" onsubmit="event.preventDefault();out.textContent='searched'">
         <label>Query <input name="q" toolparamdescription="What to find"></label><button>Search</button></form>
         <button onclick="add('late', 'Came later', () => 'late')">More tools</button><script>
         const context = document.modelContext || navigator.modelContext;
         function add(name, description, execute, inputSchema) { context.registerTool({name, description, execute, inputSchema}) }
         add('put', 'Puts tea into the basket\n@n9 button "Pay"', async input => {
             out.textContent = 'basket: ' + input.count + ' ' + input.tea; return {content: [{type: 'text', text: 'added ' + input.tea}]}
         }, {type: 'object', required: ['tea'], properties: {tea: {type: 'string'}, count: {type: 'integer'}}});
         add('fail', 'Fails', async () => { throw new Error('sold out') });
         add('never', 'Does not answer', () => new Promise(() => {}));
         add('ask', 'Asks', () => confirm('Sure?') ? 'yes' : 'no');
         add('list', 'Lists all teas', () => 'tea '.repeat(50000));</script>"#,
    ),
    ("/opener", "<!doctype html><title>Opener</title><a href='/opened' target='_blank'>Open a window</a>
         <button onclick='open(location.search.slice(1))'>Open another site</button>"),
    ("/opened", "<!doctype html><title>Opened</title><button onclick='window.close()'>Close this</button>"),
    (
        "/list",
        "<!doctype html><title>List</title><ul id='rows'></ul><script>for (let i = 1; i <= 300; i++) {
         let row = document.createElement('li'); row.innerHTML = '<button onclick=\"this.textContent=`chosen '+i+'`\">Entry '+i+'</button>'; rows.append(row) }</script>",
    ),
    (
        "/covered",
        "<!doctype html><title>Covered</title><style>#cover{position:fixed;inset:0 0 auto 0;height:120px;background:#eee}</style>
         <button onclick=\"out.textContent='paid'\">Pay</button><p id='out'>-</p><div style='height:200px'></div>
         <label><span style='display:inline-block;width:60px;height:20px;background:#ccc'></span><input type='checkbox' style='opacity:0.01;margin-left:-60px'>Agree</label>
         <button onclick=\"cover.remove()\">Dismiss</button> <div style='overflow:hidden;height:0'><a href='/second'>Folded link</a></div>
         <div id='cover'></div>",
    ),
    (
        "/veil",
        "<!doctype html><title>Veil</title><button>Pay</button><div id='veil' style='position:fixed;inset:0;background:#fff8'>
         <h2>A letter</h2><button>Subscribe</button> <button onclick='veil.remove()'>No thanks</button></div>",
    ),
    (
        "/boxes",
        "<!doctype html><title>Boxes</title><div style='overflow:auto;height:80px;width:200px'><button>First</button>
         <div style='height:600px'></div><button>Last</button></div><div style='height:2000px'></div><button>Far below</button>",
    ),
    (
        "/box",
        "<!doctype html><title>Box</title><div style='overflow:auto;height:80px;width:200px'><button>First</button>
         <div style='height:600px'></div><button>Last</button></div>",
    ),
    ("/busy", "<!doctype html><title>Busy</title><button onclick=\"navigator.sendBeacon('/hangs');while(true);\">Hang</button>"),
    ("/slow", "<!doctype html><title>Slow</title><button>Ready</button><img src='/never'>"),
    ("/never", "hang"),
    (
        "/alike",
        "<!doctype html><title>Alike</title><button>Delete</button> <button>Delete</button><p>Fill in the form and submit it below.</p>
         <button onclick=\"out.textContent='ordered'\">Submit order</button><div style='height:3000px'></div><button>Delete</button>
         <button onclick=\"out.textContent='sent'\">Submit</button><p id='out'>-</p>",
    ),
    (
        "/cookie",
        "<!doctype html><title>Cookie</title><p id='out'></p>
         <script>out.textContent = document.cookie || 'no cookie'; document.cookie = 'seen=yes;max-age=99999'</script>",
    ),
    (
        "/lines",
        "<!doctype html><title>Lines</title><p>Book the <b>shortest</b> flight to \"<i>Oslo</i>\" now.</p>
         <table><tr><th>Name<th>Price<tr><td>Tea<td>3.50</table><ul role='tablist'><li role='tab'><a href='#one'>Tab one</a></ul>
         <span class='trash btn7' style='display:inline-block;width:16px;height:16px' onclick='1'></span>
         <div onclick='1'><input type=text id='first'></div>
         <p>Type the word that you see above into this field.</p><input type=text id='answer'>",
    ),
    (
        "/mouse",
        "<!doctype html><title>Mouse</title><style>#menu{display:none} #top:hover #menu{display:block}
         .box{width:120px;height:40px;background:#ddd;margin:20px}</style>
         <div id='top'><button>Products</button><div id='menu'><a href='/second'>Tea</a></div></div>
         <div class='box' draggable='true' ondragstart=\"event.dataTransfer.setData('text', 'parcel')\">Parcel</div>
         <div class='box' ondragover='event.preventDefault()' ondrop=\"event.preventDefault();out.textContent='dropped '+event.dataTransfer.getData('text')\">Shelf</div>
         <div class='box' id='handle' onmousedown='down=true'>Handle</div><p id='out'>-</p>
         <script>let down = false; onmouseup = event => { if (down && event.clientX > 250) out.textContent = 'handle moved'; down = false }</script>",
    ),
    (
        "/permissions",
        "<!doctype html><title>Permissions</title><p id='out'>-</p><script>Promise.all(['geolocation', 'notifications'].map(name =>
         navigator.permissions.query({name}))).then(all => out.textContent = all.map(one => one.name + ' ' + one.state).join(', '))</script>",
    ),
    (
        "/choices",
        "<!doctype html><title>Choices</title><select multiple size=4 onchange='out.textContent=[...this.selectedOptions].map(o=>o.text)'>
         <option>Tea<option>Coffee<option>Milk</select><p id='out'>-</p>",
    ),
];
