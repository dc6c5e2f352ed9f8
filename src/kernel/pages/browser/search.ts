/** The script of the search page. It runs in browsers, so it names here what it uses of one. */
import type { SearchEntry } from '../search-entries.js';
import { searchIn } from '../search-index.js';

interface Element {
  value: string;
  textContent: string;
  className: string;
  href: string;
  append(...children: (Element | string)[]): void;
  replaceChildren(...children: Element[]): void;
  addEventListener(event: string, listener: () => void): void;
}
declare const document: { querySelector(selector: string): Element; createElement(name: string): Element };
declare const location: { readonly search: string; readonly pathname: string };
declare const history: { replaceState(state: null, title: string, address: string): void };

const SNIPPET = 180;
const KINDS: Readonly<Record<SearchEntry['kind'], string>> = {
  ...{ guide: 'Guide', task: 'Task', query: 'GraphQL query', mutation: 'GraphQL mutation' },
  ...{ subscription: 'GraphQL subscription', REST: 'REST' },
};

/** A description, without the marks of code. */
const snippetOf = (text: string): string => {
  const plain = text.replaceAll('`', '');
  return plain.length > SNIPPET ? `${plain.slice(0, SNIPPET)}…` : plain;
};

const find = searchIn((await (await fetch('/assets/search.json')).json()) as SearchEntry[]);
const field = document.querySelector('#words');
const count = document.querySelector('#count');
const list = document.querySelector('#found');

function make(name: string, className: string, text: string): Element {
  const element = document.createElement(name);
  Object.assign(element, { className, textContent: text });
  return element;
}

function show(): void {
  const found = find(field.value);
  list.replaceChildren(
    ...found.map(({ kind, address, title, name, text, isDeprecated }) => {
      const item = document.createElement('li');
      const link = make('a', '', title);
      link.href = address;
      item.append(link, make('span', 'kind', kind === 'guide' ? `Guide: ${name}` : KINDS[kind]));
      if (isDeprecated) item.append(make('span', 'kind deprecated', 'deprecated'));
      if (kind === 'REST') item.append(make('code', '', name.replace(/ \w+$/, '')));
      item.append(make('p', '', snippetOf(text)));
      return item;
    }),
  );
  count.textContent =
    field.value.trim() === '' ? '' : found.length === 0 ? 'Nothing found.' : `${found.length} results`;
  history.replaceState(null, '', field.value === '' ? location.pathname : `?q=${encodeURIComponent(field.value)}`);
}

field.value = new URLSearchParams(location.search).get('q') ?? '';
field.addEventListener('input', show);
show();
