import * as z from 'zod';
import { isCidr } from '../../../kernel/addresses.js';

const HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAILBOX = /^[\x21-\x3f\x41-\x7e]{1,64}@[^@]+$/;
const MAX_SUBTREES = 50;

const isDomain = (text: string): boolean => HOST.test(text.replace(/^\./, ''));

/** Format of a subtree of each kind. */
const FORMS = {
  dns: {
    fits: (text: string) => HOST.test(text),
    form: 'a DNS name, for example example.com, which includes its subdomains',
  },
  ip: {
    fits: (text: string) => text.includes('/') && isCidr(text),
    form: 'a network in CIDR notation, for example 10.0.0.0/8',
  },
  email: {
    fits: (text: string) => (MAILBOX.test(text) ? HOST.test(text.replace(/^.*@/, '')) : isDomain(text)),
    form: 'an email address, a host such as example.com, or all hosts of a domain such as .example.com',
  },
  uri: { fits: isDomain, form: 'a host such as example.com, or all hosts of a domain such as .example.com' },
} as const;

export const nameKind = z.enum(['dns', 'ip', 'email', 'uri']);

/** A subtree of names of one kind. */
export const Subtree = z
  .strictObject({
    kind: nameKind.meta({ description: 'Kind of the names.' }),
    value: z.string().trim().toLowerCase().min(1).max(253).meta({
      description:
        'Subtree of names. DNS: a name with its subdomains, for example `example.com`. IP: a network, for example `10.0.0.0/8`. Email: an address, a host, or a domain such as `.example.com`. URI: a host or a domain such as `.example.com`.',
    }),
  })
  .superRefine(({ kind, value }, issues) => {
    const { fits, form } = FORMS[kind];
    if (!fits(value)) issues.addIssue({ code: 'custom', path: ['value'], message: `must be ${form}` });
  })
  .meta({ description: 'A subtree of names of one kind.' });

const subtrees = (description: string) => z.array(Subtree).max(MAX_SUBTREES).default([]).meta({ description });

/** Names that certificates below an authority may have. */
export const NameConstraintsRules = z
  .strictObject({
    permitted: subtrees(
      'Permitted subtrees, up to 50. For kinds listed here, certificates may only have these names; other kinds are not restricted.',
    ),
    excluded: subtrees('Excluded subtrees, up to 50. No certificate may have these names.'),
  })
  .meta({ description: 'Name constraints: the names that certificates below an authority may have.' });

/** Field of inputs that create an authority. */
export const nameConstraints = NameConstraintsRules.nullish().meta({
  description:
    'Name constraints: the names that certificates issued below the authority may have. Absent: any that its issuers allow. They cannot be changed later.',
});
