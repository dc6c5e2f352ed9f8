import { domainToASCII, domainToUnicode } from 'node:url';
import ipaddr from 'ipaddr.js';
import type { San, SanKind } from './facts.js';

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const LOCAL_PART = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const PRINTABLE = /^[\x21-\x7e]+$/;
const MAX_DOMAIN = 253;
const MAX_LOCAL_PART = 64;
const MAX_EMAIL = 254;
const MAX_URI = 1_024;

/** Labels in other scripts must be ASCII-encoded, in canonical form (RFC 5890, section 2.3.2.1). */
function isALabel(label: string): boolean {
  const unicode = domainToUnicode(label);
  return unicode !== '' && unicode !== label && domainToASCII(unicode) === label.toLowerCase();
}

const isLabel = (label: string): boolean =>
  LABEL.test(label) && (!label.toLowerCase().startsWith('xn--') || isALabel(label));

/** A numeric last label could be that of an IPv4 address. */
function isDomain(name: string): boolean {
  const labels = name.split('.');
  return name.length <= MAX_DOMAIN && labels.every(isLabel) && !/^\d+$/.test(labels.at(-1) as string);
}

const isDnsName = (name: string): boolean =>
  name.length <= MAX_DOMAIN && isDomain(name.startsWith('*.') ? name.slice(2) : name);

const isIp = (text: string): boolean =>
  !text.includes('%') &&
  (ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text)));

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  return (
    text.length <= MAX_EMAIL && local.length <= MAX_LOCAL_PART && LOCAL_PART.test(local) && isDomain(text.slice(at + 1))
  );
}

/** A host in canonical form: no octal addresses, no escapes, no trailing dot; or an IPv6 address. */
const AUTHORITY = /^([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(:\d+)?(?=[/?#]|$)/i;
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=[/?#]|$)/i;

/** The parts of a URI with an authority; null for others. */
export function splitUri(uri: string) {
  const [whole = '', scheme = '', host = '', port = ''] = AUTHORITY.exec(uri) ?? [];
  return whole === '' ? null : { scheme, host, port, rest: uri.slice(whole.length) };
}

/** Non-canonical URIs are parsed differently by different programs, and profiles compare them as strings. */
function isUri(text: string): boolean {
  if (text.length > MAX_URI || !SCHEME.test(text) || !PRINTABLE.test(text) || !URL.canParse(text)) return false;
  if (text.includes('\\') || DOT_SEGMENT.test(text)) return false;
  const { hostname, pathname } = new URL(text);
  const split = splitUri(text);
  // An authority must contain a host (RFC 5280, section 4.2.1.6).
  if (split === null) return hostname === '' && pathname !== '' && !/^[^:]+:\/\//.test(text);
  return split.host.startsWith('[') || hostname.toLowerCase() === split.host.toLowerCase();
}

const RULES: Readonly<Record<SanKind, readonly [isValid: (text: string) => boolean, message: string]>> = {
  dns: [isDnsName, 'must be an ASCII DNS name; a wildcard may only be its whole first label'],
  ip: [isIp, 'must be an IPv4 or IPv6 address'],
  email: [isEmail, 'must be an ASCII email address'],
  uri: [isUri, 'must be an absolute ASCII URI without user name and with a canonical host'],
};

/** The error of the value of an alternative name; null if it is valid. */
export function sanViolation({ kind, value }: San): string | null {
  const [isValid, message] = RULES[kind];
  return isValid(value) ? null : message;
}

/** The canonical string of an alternative name: equal for equal names. */
export function canonicalSan({ kind, value }: San): string {
  if (kind === 'ip') return `ip ${isIp(value) ? ipaddr.parse(value).toNormalizedString() : value}`;
  return `${kind} ${kind === 'dns' ? value.toLowerCase() : value}`;
}
