'use strict';
// Small helpers and the frame (header, footer, banners) of every page.
const store = {
  get(key, fallback) {
    try {
      const value = JSON.parse(localStorage.getItem('ht.' + key));
      return value === null ? fallback : value;
    } catch { return fallback; }
  },
  set(key, value) { localStorage.setItem('ht.' + key, JSON.stringify(value)); }
};
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const root = document.documentElement;
// Redesigned pages carry data-design; all others follow the last one seen.
if (root.dataset.design) store.set('design', Number(root.dataset.design));
const design = store.get('design', 1);
root.classList.add('d' + design);

function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key in node && !key.includes('-')) node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}
function money(amount) {
  const currency = store.get('set.currency', 'EUR');
  const rate = { EUR: 1, CHF: 0.95, GBP: 0.86, NOK: 11.4 }[currency] || 1;
  return (amount * rate).toFixed(2) + ' ' + currency;
}
function say(text) {
  let box = $('#said');
  if (!box) {
    box = el('div', { id: 'said', className: 'toast', role: 'status' });
    document.body.append(box);
  }
  box.textContent = text;
  box.hidden = false;
}
const basket = {
  all() { return store.get('cart', {}); },
  count() { return Object.values(this.all()).reduce((sum, n) => sum + n, 0); },
  change(id, number) {
    const items = this.all();
    if (number > 0) items[id] = number; else delete items[id];
    if (id) store.set('cart', items);
    $$('.basket-count').forEach(node => { node.textContent = this.count() || ''; });
  },
  add(id, number = 1) { this.change(id, (this.all()[id] || 0) + number); }
};
const icon = path => `<svg width="20" height="20" viewBox="0 0 24 24" fill="none" stroke="currentColor"
  stroke-width="2" aria-hidden="true"><path d="${path}"/></svg>`;
const ICONS = {
  user: 'M4 21c0-9 16-9 16 0M12 3a4 4 0 1 0 .1 0', bag: 'M5 8h14l1 13H4zM8 8c0-6 8-6 8 0',
  bars: 'M3 6h18M3 12h18M3 18h18', cross: 'M5 5l14 14M19 5L5 19', bin: 'M4 6h16M9 6V3h6v3M6 6l1 15h10l1-15',
  pen: 'M4 20l1-5L16 4l4 4L9 19zM14 6l4 4', heart: 'M12 20C-4 9 8 0 12 7c4-7 16 2 0 13'
};
const link = ([href, text]) => `<li><a href="${href}">${text}</a></li>`;
const TEAS = [['/shop/black', 'Black tea'], ['/shop/green', 'Green tea'], ['/shop/oolong', 'Oolong'],
  ['/shop/white', 'White tea'], ['/shop/herbal', 'Herbs and rooibos'], ['/shop/tools', 'Tea ware']];
const DISCOVER = [['/feed', 'Tea journal'], ['/stores', 'Our shops'], ['/reviews', 'Customer reviews'],
  ['/sort', 'Tasting list'], ['/wishlist', 'Wish list']];
const SERVICE = [['/help', 'Help'], ['/contact', 'Contact'],
  ['/downloads', 'Downloads'], ['/upload', 'Send us a document'], ['/account/orders', 'Track a parcel']];
const COMPANY = [['/about', 'About us'], ['/about/jobs', 'Jobs'], ['/about/press', 'Press'],
  ['/about/wholesale', 'Wholesale'], ['/practice', 'Practice room']];
const LEGAL = [['/legal/terms', 'Terms'], ['/legal/privacy', 'Privacy policy'], ['/legal/imprint', 'Imprint'],
  ['/de', 'Deutsch']];

function headerOne() {
  return `<a class="skip" href="#main">Skip to content</a>
  <header class="top"><a class="logo" href="/">Harbour Tea</a>
  <nav aria-label="Main"><ul class="menu">
    <li class="sub"><a href="/shop" aria-haspopup="true">Shop</a><ul>${TEAS.map(link).join('')}</ul></li>
    <li class="sub"><button type="button" aria-expanded="false" data-open>Discover</button>
      <ul>${DISCOVER.map(link).join('')}</ul></li>
    <li><a href="/help">Help</a></li><li><a href="/contact">Contact</a></li></ul></nav>
  <div class="tools"><a href="/account" aria-label="Account" title="Account">${icon(ICONS.user)}</a>
    <a href="/cart" aria-label="Basket" title="Basket">${icon(ICONS.bag)}<span class="basket-count"></span></a>
  </div></header>`;
}
function footerOne() {
  const column = (title, links) => `<section><h2>${title}</h2><ul>${links.map(link).join('')}</ul></section>`;
  return `<footer class="foot">${column('Teas', TEAS)}${column('Service', SERVICE)}
    ${column('Company', COMPANY)}${column('Legal', LEGAL)}<p>Harbour Tea is an invented shop for practice.</p></footer>`;
}
function headerTwo() {
  const group = (title, links) => `<li><button type="button" data-open aria-expanded="false">${title}</button>
    <ul>${links.map(link).join('')}</ul></li>`;
  const advice = SERVICE.map(([href, text]) => [href, text === 'Help' ? 'Advice centre' : text]);
  return `<div class="bar2"><button type="button" id="burger" data-open aria-expanded="false" aria-label="Menu">
    ${icon(ICONS.bars)}</button><div class="drawer"><ul>${group('Explore', DISCOVER)}${group('Service and advice', advice)}
    ${group('The company', COMPANY)}${group('Small print', LEGAL)}</ul></div>
    <a class="brand2" href="/">Harbour Tea</a></div>`;
}
function footerTwo() {
  return `<nav class="tabs2" aria-label="Quick access"><a href="/shop">Browse</a>
    <a href="/cart" aria-label="Bag">Bag <span class="basket-count"></span></a><a href="/account">My page</a></nav>`;
}
if (!root.hasAttribute('data-bare')) {
  document.body.insertAdjacentHTML('afterbegin', design === 2 ? headerTwo() : headerOne());
  document.addEventListener('DOMContentLoaded', () => {
    document.body.insertAdjacentHTML('beforeend', design === 2 ? footerTwo() : footerOne());
    basket.change(0, 0);
  });
}
// Buttons with data-open show or hide the element that follows them.
document.addEventListener('click', event => {
  const button = event.target.closest('[data-open]');
  if (button) button.setAttribute('aria-expanded', button.getAttribute('aria-expanded') !== 'true');
});
// Controls with data-set remember their state: switches, check boxes and selects.
function wire(scope = document) {
  for (const control of $$('[data-set]', scope)) {
    const key = 'set.' + control.dataset.set;
    const label = control.dataset.label || control.textContent.trim();
    if (control.matches('select')) {
      control.value = store.get(key, control.value);
      control.onchange = () => {
        store.set(key, control.value);
        say(label + ': ' + control.selectedOptions[0].text);
      };
    } else if (control.matches('input')) {
      control.checked = store.get(key, control.checked);
      control.onchange = () => { store.set(key, control.checked); say(label + ': ' + (control.checked ? 'on' : 'off')); };
    } else {
      const show = on => control.setAttribute('aria-checked', on);
      show(store.get(key, control.getAttribute('aria-checked') === 'true'));
      control.onclick = () => {
        const on = control.getAttribute('aria-checked') !== 'true';
        show(on);
        store.set(key, on);
        say(label + ': ' + (on ? 'on' : 'off'));
      };
    }
  }
}
function cookieBanner() {
  if (store.get('cookies', null)) return;
  const bar = el('div', { className: 'cookies', role: 'region', 'aria-label': 'Cookies' });
  bar.innerHTML = `<p>We use cookies to keep your basket. May we also count visits?</p>
    <button type="button">Accept all</button> <button type="button" class="plain">Only necessary</button>`;
  bar.onclick = event => {
    if (event.target.matches('button')) { store.set('cookies', event.target.textContent); bar.remove(); }
  };
  document.body.append(bar);
}
function newsletter() {
  if (store.get('newsletter', null)) return;
  setTimeout(() => {
    const veil = el('div', { className: 'veil' });
    veil.innerHTML = `<div class="modal" role="dialog" aria-modal="true" aria-labelledby="nlh">
      <div class="x" onclick="closeNews()" title="Close">${icon(ICONS.cross)}</div>
      <h2 id="nlh">A letter from the harbour</h2><p>One e-mail a month, and 5 percent off your first order.</p>
      <form><label>E-mail for the letter <input type="email" required></label> <button>Subscribe</button></form>
      <a href="#" onclick="closeNews(); return false">No thanks</a></div>`;
    veil.onsubmit = event => { event.preventDefault(); closeNews(); say('Thank you for subscribing.'); };
    document.body.append(veil);
  }, 1000);
}
function closeNews() { store.set('newsletter', 'seen'); $('.veil')?.remove(); }
document.addEventListener('DOMContentLoaded', () => {
  wire();
  if (root.hasAttribute('data-cookies')) cookieBanner();
  if (root.hasAttribute('data-news')) newsletter();
});
