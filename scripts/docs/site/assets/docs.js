// The search of the documentation, and a button on each example that copies it.
const search = document.querySelector('header search');
const [input, list] = search.children;
const resultsMax = 8;
let reading = null;

search.hidden = false;
input.addEventListener('focus', () => void readIndex());
input.addEventListener('input', () => void showResults());
input.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') list.querySelector('a')?.click();
  if (key === 'Escape') close();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('input, textarea');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});
// A link to a heading of the same page loads nothing.
list.addEventListener('click', close);

function close() {
  input.value = '';
  list.replaceChildren();
}

/** Read once, when a reader first needs it. */
function readIndex() {
  reading ??= loadIndex();
  return reading;
}

async function loadIndex() {
  const [{ default: MiniSearch }, response] = await Promise.all([
    import('/docs/minisearch.js'),
    fetch('/docs/search.json'),
  ]);
  const index = new MiniSearch({
    fields: ['heading', 'page', 'text'],
    storeFields: ['heading', 'page'],
    searchOptions: {
      boost: { heading: 4, page: 2 },
      prefix: true,
      fuzzy: 0.15,
      combineWith: 'AND',
    },
  });
  index.addAll(await response.json());
  return index;
}

async function showResults() {
  const words = input.value;
  const found = words.trim() === '' ? [] : (await readIndex()).search(words);
  // Another letter was typed while the index was read.
  if (words !== input.value) return;
  const items = found.slice(0, resultsMax).map(({ id, heading, page }) => {
    const link = Object.assign(document.createElement('a'), { href: id, textContent: heading });
    if (page !== heading) {
      const place = { className: 'found-in', textContent: page };
      link.append(Object.assign(document.createElement('span'), place));
    }
    return wrap(link);
  });
  const isEmpty = items.length === 0 && words.trim() !== '';
  list.replaceChildren(...(isEmpty ? [wrap('Nothing found.')] : items));
}

function wrap(content) {
  const item = document.createElement('li');
  item.append(content);
  return item;
}

// Outside a secure context (plain HTTP, not loopback) the browser has no clipboard.
for (const example of navigator.clipboard ? document.querySelectorAll('pre') : []) {
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'copy',
    textContent: 'Copy',
  });
  button.addEventListener('click', () => void copy());
  const copy = async () => {
    await navigator.clipboard.writeText(example.querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  };
  const box = document.createElement('div');
  box.className = 'example';
  example.replaceWith(box);
  box.append(example, button);
}
