/** Control characters, line breaks, and characters that change text direction. */
const UNPRINTABLE = /[\s\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/** Converts to one line of at most this many code units; longer strings are cut and end in an ellipsis. */
export function truncated(text: string, most: number): string {
  const line = text.toWellFormed().replace(UNPRINTABLE, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Joins a list and cuts it: `a.example.com, b.example.com and 3 more`. Empty for an empty list. */
export function listText(text: string | readonly string[], mostNames: number, most: number): string {
  if (typeof text === 'string') return truncated(text, most);
  const shown = text.slice(0, mostNames).map((name) => truncated(name, most));
  const omitted = text.length - shown.length;
  return `${shown.join(', ')}${omitted > 0 ? ` ${countOfOthers(omitted)}` : ''}`;
}

/** `and 1,200 more` */
export const countOfOthers = (count: number): string => `and ${count.toLocaleString('en-US')} more`;

/** `2026-12-01 09:30 UTC` */
export const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
