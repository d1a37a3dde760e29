'use strict';
const CATEGORIES = { black: 'Black tea', green: 'Green tea', oolong: 'Oolong', white: 'White tea',
  herbal: 'Herbs and rooibos', tools: 'Tea ware' };
// id, name, category, price, origin, caffeine, grams, organic, water (C), minutes, ingredients
const PRODUCTS = [
  [1, 'Harbour Breakfast', 'black', 6.9, 'India', 'high', 125, 0, 100, 4, 'Assam and Ceylon leaves'],
  [2, 'Lapsang Smoke', 'black', 8.4, 'China', 'medium', 100, 0, 95, 3, 'black tea dried over pine wood'],
  [3, 'Earl Grey Blue', 'black', 7.2, 'Sri Lanka', 'high', 125, 0, 96, 3, 'black tea, bergamot oil, cornflower'],
  [4, 'Darjeeling First Flush', 'black', 12.5, 'India', 'medium', 100, 1, 90, 2, 'spring leaves of one garden'],
  [5, 'Night Watch Assam', 'black', 7.8, 'India', 'high', 125, 1, 99, 5, 'broken Assam leaves'],
  [6, 'Sencha Fog', 'green', 9.2, 'Japan', 'medium', 100, 1, 70, 2, 'steamed green leaves'],
  [7, 'Gunpowder Cove', 'green', 6.1, 'China', 'medium', 125, 0, 78, 3, 'rolled green leaves'],
  [8, 'Jasmine Pearl', 'green', 13.9, 'China', 'medium', 75, 0, 75, 3, 'green tea, jasmine blossom'],
  [9, 'Genmaicha Pier', 'green', 8.7, 'Japan', 'low', 100, 0, 82, 2, 'green tea, roasted rice'],
  [10, 'Matcha Lighthouse', 'green', 21, 'Japan', 'high', 30, 1, 77, 1, 'ground green tea'],
  [11, 'Bancha Evening', 'green', 5.8, 'Japan', 'low', 100, 1, 84, 2, 'autumn leaves and stems'],
  [12, 'Iron Goddess', 'oolong', 14.2, 'China', 'medium', 100, 0, 93, 3, 'lightly roasted oolong'],
  [13, 'Milk Oolong', 'oolong', 11.6, 'Taiwan', 'medium', 75, 0, 91, 3, 'oolong; contains no milk'],
  [14, 'High Mountain Mist', 'oolong', 18.3, 'Taiwan', 'low', 75, 1, 88, 2, 'hand-picked oolong'],
  [15, 'Silver Needle', 'white', 19.5, 'China', 'low', 50, 1, 76, 6, 'unopened buds'],
  [16, 'White Peony', 'white', 12.8, 'China', 'low', 75, 0, 79, 5, 'buds and young leaves'],
  [17, 'Chamomile Calm', 'herbal', 4.9, 'Egypt', 'none', 60, 1, 98, 7, 'chamomile flowers'],
  [18, 'Peppermint Quay', 'herbal', 4.6, 'Morocco', 'none', 60, 0, 97, 6, 'peppermint leaves'],
  [19, 'Ginger Storm', 'herbal', 5.4, 'Peru', 'none', 100, 0, 100, 8, 'ginger, lemon peel, liquorice'],
  [20, 'Rooibos Sunset', 'herbal', 5.9, 'South Africa', 'none', 125, 0, 100, 7, 'rooibos, orange peel'],
  [21, 'Honeybush Reef', 'herbal', 6.3, 'South Africa', 'none', 125, 1, 100, 9, 'honeybush'],
  [22, 'Glass Teapot', 'tools', 24, 'Germany', '', 0, 0, 0, 0, 'heat-proof glass, steel sieve'],
  [23, 'Cast Iron Kettle', 'tools', 58, 'Japan', '', 0, 0, 0, 0, 'iron, enamel'],
  [24, 'Bamboo Whisk', 'tools', 15.5, 'Japan', '', 0, 0, 0, 0, 'bamboo']
].map(([id, name, cat, price, origin, caffeine, grams, organic, water, minutes, made]) =>
  ({ id, name, cat, price, origin, caffeine, grams, organic, water, minutes, made }));
const product = id => PRODUCTS.find(item => item.id === Number(id));
// number, date, state, carrier number, items [product, quantity]
const ORDERS = [
  [1052, '9 October', 'On its way', 'HX-7741-52', [[6, 2], [24, 1]]],
  [1047, '21 August', 'Delivered', 'HX-7702-18', [[19, 1]]],
  [1038, '3 June', 'Delivered', 'HX-6519-77', [[23, 1], [1, 2]]],
  [1031, '14 April', 'Delivered', 'HX-6120-04', [[15, 1]]],
  [1019, '2 February', 'Cancelled', 'none', [[22, 1]]]
].map(([number, date, state, parcel, items]) => ({ number, date, state, parcel, items,
  total: items.reduce((sum, [id, n]) => sum + product(id).price * n, 0) }));
