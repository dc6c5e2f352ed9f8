const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** HTML that can be inserted into other HTML safely. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | null | readonly Html[];

/** A template tag for HTML: escapes every value that is not `Html`. */
export const html = (template: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(template.map((text, at) => `${text}${at < parts.length ? htmlOf(parts[at] ?? null) : ''}`).join(''));

function htmlOf(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
