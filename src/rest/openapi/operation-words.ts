import type { CompiledRoute } from '../compiled-route.js';

/** `Get a tag` -> `A tag.`, and `Create a tag` -> `Done: create a tag.`: what a summary says of the answer. */
export function doneOf(summary: string): string {
  const [sentence = ''] = summary.replace(/ \([^)]*\)$/, '').split('. ');
  const read = /^(?:Get|List|Preview|Download|Export) (.*)$/.exec(sentence);
  const words = read?.[1] ?? sentence;
  const [first = ''] = words;
  return read === null ? `Done: ${first.toLowerCase()}${words.slice(1)}.` : `${first.toUpperCase()}${words.slice(1)}.`;
}

/** The summary of an operation. That it is an older one is told by `deprecated`. */
export const summaryOf = ({ summary }: Pick<CompiledRoute['route'], 'summary'>): string =>
  summary.replace(/ \(older path\)$/, '');

/**
 * What an operation does, and what to know before calling it, in Markdown: what the schema says of the field that answers it, what
 * the route adds, the right that it needs, and what follows from its rules.
 *
 * @param right that it needs, as `tags:read`; undefined where it is not one
 * @param current id of the operation that stands in place of an older one
 */
export function descriptionOf(
  { route, about, isList }: CompiledRoute,
  { right, current }: { readonly right: string | undefined; readonly current: string | undefined },
): string {
  const notes = [
    current === undefined ? undefined : `Deprecated: use \`${current}\`, which has the same effect.`,
    current !== undefined ? undefined : about === '' ? `${summaryOf(route)}.` : about,
    route.description,
    right === undefined ? undefined : `Requires the permission \`${right}\`.`,
    route.anonymous === true ? 'Takes no token.' : undefined,
    route.sensitive === true ? 'The response contains secrets: no cache may store it.' : undefined,
    route.ifMatch === undefined ? undefined : 'Takes `If-Match` with the `ETag` of what you have read.',
    isList && 'limit' in (route.query?.shape ?? {}) ? 'Pages with `limit` and `cursor`.' : undefined,
  ];
  return notes.filter((note) => note !== undefined).join('\n\n');
}
