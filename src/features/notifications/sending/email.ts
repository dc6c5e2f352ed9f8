import type { Context } from '../../../kernel/context.js';
import type { Mailer } from '../../../kernel/outbound/mail.js';
import type { TargetOf } from './channel.js';
import { type Delivery, type DeliveryOutcome, outcomeOf } from './delivery.js';
import type { Notification, NotifiedItem } from './notification.js';
import { countOfOthers, listText, timeText, truncated } from './text.js';

/** Sends an email to one recipient. */
export function sendEmail(
  ctx: Context,
  mailer: Mailer,
  { id, target, notification }: Delivery<TargetOf<'email'>>,
): Promise<DeliveryOutcome> {
  const content = mailContent(notification, target.recipient);
  const mail = {
    to: target.recipient,
    id,
    subject: content.title,
    text: textMail(content),
    html: htmlMail(content),
  };
  return outcomeOf(mailer.send(ctx, mail));
}

/** Mail programs clip messages that are longer than about 100 KB. */
const MAX_ITEMS = 100;
const MAX_NAMES = 5;
const MAX_NAME = 100;
const MAX_TEXT = 2_000;

type Labelled = readonly [label: string, text: string];

/** One item, as text. */
interface Row {
  readonly name: string;
  readonly fields: readonly Labelled[];
  readonly due: { readonly verb: string; readonly time: string; readonly text: string } | null;
  readonly colour: string;
}

/** The content of an email: the same in HTML and in plain text. */
interface MailContent {
  readonly title: string;
  readonly facts: readonly Labelled[];
  /** Noun of the items. */
  readonly noun: string;
  /** By urgency, most urgent first. */
  readonly groups: readonly { readonly label: string; readonly rows: readonly Row[] }[];
  /** About omitted items; empty if there are none. */
  readonly omitted: string;
  readonly nextSteps: string;
  readonly link: string | null;
  readonly reason: string;
}

const COLOURS = { critical: '#b42318', error: '#b54708', warning: '#7a5c00', info: '#475467' } as const;

/** The content of an email to a recipient. */
export function mailContent(notification: Notification, recipient: string): MailContent {
  const { title, context, reason, noun, items, nextSteps, link } = notification;
  const omitted = items.length - MAX_ITEMS;
  const facts = context.map(([label, text]): Labelled => [label, truncated(text, MAX_NAME)]);
  const byUrgency = Map.groupBy(items.slice(0, MAX_ITEMS), ({ urgency }) => urgency.label);
  return {
    title: truncated(title, 200),
    facts: items.length === 0 ? facts : [...facts, [noun.many, items.length.toLocaleString('en-US')]],
    noun: noun.one,
    groups: [...byUrgency].map(([label, group]) => ({ label, rows: group.map(rowOf) })),
    omitted: omitted > 0 ? `${countOfOthers(omitted)}${noun.omitted}` : '',
    nextSteps: truncated(nextSteps, MAX_TEXT),
    link,
    reason: `${truncated(recipient, 254)} receives this email as ${truncated(reason, 300)}.`,
  };
}

const rowOf = ({ name, urgency, due, fields }: NotifiedItem): Row => ({
  name: truncated(name, MAX_NAME) || '(no name)',
  fields: fields.flatMap(([label, text]) => {
    const shown = listText(text, MAX_NAMES, MAX_NAME);
    return shown === '' ? [] : [[label, shown] as const];
  }),
  due: due === null ? null : { ...due, time: timeText(due.time) },
  colour: COLOURS[urgency.severity],
});

/** Plain text. */
export function textMail({ title, facts, groups, omitted, nextSteps, link, reason }: MailContent): string {
  const labelled = ([label, text]: Labelled): string => `  ${`${label}:`.padEnd(15)} ${text}`;
  const row = ({ name, fields, due }: Row): string =>
    [name, ...(due === null ? [] : [labelled([due.verb, `${due.text}, ${due.time}`])]), ...fields.map(labelled)].join(
      '\n',
    );
  return [
    title,
    facts.map(([label, text]) => `${label}: ${text}`).join('\n'),
    ...groups.flatMap(({ label, rows }) => [...(label === '' ? [] : [`== ${label} ==`]), ...rows.map(row)]),
    ...(omitted === '' ? [] : [`… ${omitted}`]),
    `What to do next\n${nextSteps}`,
    ...(link === null ? [] : [`Show in Strongroom: ${link}`]),
    `--\n${reason}`,
  ]
    .join('\n\n')
    .concat('\n');
}

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const CELL = 'padding:10px 8px;border-top:1px solid #e4e7ec;vertical-align:top;text-align:left';
const HEAD = 'padding:6px 8px;text-align:left;font-size:12px;font-weight:600;color:#667085';
const QUIET = 'font-size:12px;line-height:18px;color:#667085;word-break:break-word';

/** HTML with tables and inline styles, which all mail programs support, and without external resources. */
export function htmlMail({ title, facts, noun, groups, omitted, nextSteps, link, reason }: MailContent): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
</head>
<body style="margin:0;padding:0;background:#f2f4f7;${FONT};color:#101828">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#f2f4f7">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:680px;background:#ffffff;border:1px solid #e4e7ec;border-radius:8px">
<tr><td style="padding:24px">
<p style="margin:0 0 4px;font-size:13px;font-weight:600;color:#667085">Strongroom</p>
<h1 style="margin:0 0 16px;font-size:20px;line-height:28px;word-break:break-word">${title}</h1>
<p style="margin:0;font-size:14px;line-height:22px;word-break:break-word">${facts.map(
    ([label, text], at) => html`${at === 0 ? '' : html`<br>`}<span style="color:#667085">${label}:</span> ${text}`,
  )}</p>
${groups.map((group) => groupHtml(noun, group))}${
  omitted === '' ? null : html`<p style="margin:12px 0 0;font-size:14px;line-height:22px">&hellip; ${omitted}</p>`
}
<h2 style="margin:24px 0 4px;font-size:16px;line-height:24px">What to do next</h2>
<p style="margin:0;font-size:14px;line-height:22px;word-break:break-word">${nextSteps}</p>
${
  link === null
    ? null
    : html`<p style="margin:20px 0 0"><a href="${link}" style="display:inline-block;padding:10px 16px;background:#1d4ed8;color:#ffffff;border-radius:6px;font-size:14px;font-weight:600;text-decoration:none">Show in Strongroom</a></p>`
}
</td></tr>
<tr><td style="padding:16px 24px;border-top:1px solid #e4e7ec;${QUIET}">${reason}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`.text;
}

const groupHtml = (noun: string, { label, rows }: MailContent['groups'][number]): Html =>
  html`<h2 style="margin:24px 0 4px;font-size:16px;line-height:24px;color:${rows[0]?.colour ?? ''}">${label || noun}</h2>
<table width="100%" cellpadding="0" cellspacing="0" style="border-collapse:collapse;font-size:14px;line-height:20px">
<tr><th style="${HEAD}">${noun}</th><th style="${HEAD}" width="110">${rows[0]?.due?.verb ?? ''}</th></tr>
${rows.map(rowHtml)}</table>
`;

const rowHtml = ({ name, fields, due, colour }: Row): Html => html`<tr>
<td style="${CELL}"><strong style="word-break:break-word">${name}</strong>
<div style="${QUIET}">${fields.map(([label, text], at) => html`${at === 0 ? null : html`<br>`}${label}: ${text}`)}</div></td>
<td style="${CELL}" width="110">${
  due === null
    ? null
    : html`<strong style="color:${colour}">${due.text}</strong><div style="${QUIET}">${due.time}</div>`
}</td>
</tr>
`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** HTML that can be inserted into other HTML safely. */
class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | null | readonly Html[];

/** A template tag for HTML: escapes every value that is not `Html`. */
const html = (template: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(template.map((text, at) => `${text}${at < parts.length ? htmlOf(parts[at] ?? null) : ''}`).join(''));

function htmlOf(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
