/** `Get a tag` -> `A tag.`, and `Create a tag` -> `Done: create a tag.`: what a summary says of the answer. */
export function doneOf(summary: string): string {
  const [sentence = ''] = summary.replace(/ \([^)]*\)$/, '').split('. ');
  const read = /^(?:Get|List) (.*)$/.exec(sentence);
  const words = read?.[1] ?? sentence;
  const [first = ''] = words;
  return read === null ? `Done: ${first.toLowerCase()}${words.slice(1)}.` : `${first.toUpperCase()}${words.slice(1)}.`;
}
