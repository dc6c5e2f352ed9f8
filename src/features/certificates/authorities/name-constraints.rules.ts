import { z } from 'zod';
import { isCidr } from '../../../kernel/addresses.js';

const HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAILBOX = /^[\x21-\x3f\x41-\x7e]{1,64}@[^@]+$/;
const MAX_SUBTREES = 50;

const isDomain = (text: string): boolean => HOST.test(text.replace(/^\./, ''));

/** What a subtree of each kind looks like. */
const FORMS = {
  dns: { fits: (text: string) => HOST.test(text), form: 'a name as example.com, which has those below it' },
  ip: { fits: (text: string) => text.includes('/') && isCidr(text), form: 'a network as 10.0.0.0/8' },
  email: {
    fits: (text: string) => (MAILBOX.test(text) ? HOST.test(text.replace(/^.*@/, '')) : isDomain(text)),
    form: 'an address, a host as example.com, or all hosts of a domain as .example.com',
  },
  uri: { fits: isDomain, form: 'a host as example.com, or all hosts of a domain as .example.com' },
} as const;

export const nameKind = z.enum(['dns', 'ip', 'email', 'uri']);

/** A part of the names of a kind. */
export const Subtree = z
  .strictObject({
    kind: nameKind.meta({ description: 'What kind of names.' }),
    value: z.string().trim().toLowerCase().min(1).max(253).meta({
      description:
        'Of DNS `example.com` with what is below it; of IP addresses a network; of e-mail an address, a host, or a domain as `.example.com`; of URIs a host or such a domain.',
    }),
  })
  .superRefine(({ kind, value }, issues) => {
    const { fits, form } = FORMS[kind];
    if (!fits(value)) issues.addIssue({ code: 'custom', path: ['value'], message: `must be ${form}` });
  })
  .meta({ description: 'A part of the names of a kind.' });

const subtrees = (description: string) => z.array(Subtree).max(MAX_SUBTREES).default([]).meta({ description });

/** Of which names certificates below an authority may be. */
export const NameConstraintsRules = z
  .strictObject({
    permitted: subtrees(
      'Up to 50. Of kinds that are named here, certificates may have these names only; other kinds are free.',
    ),
    excluded: subtrees('Up to 50. No certificate may have these names.'),
  })
  .meta({ description: 'Of which names certificates below an authority may be.' });

/** The field of an input that makes an authority. */
export const nameConstraints = NameConstraintsRules.nullish().meta({
  description:
    'Of which names certificates below it may be; absent: of any that its issuers allow. It cannot be changed later.',
});
