import * as z from 'zod';
import { type Data, nextCursor, ofSample } from '../../../rest/route.js';
import { termRange, withReplyPermissions } from '../../identity/permissions/public.js';
import { privilegeSlug } from './privilege.rules.js';

/** Selection of the documents of routes for a privilege, without its permissions. */
export const FIELDS = `id slug projectId projectMembershipId: membershipId isTemporary temporaryRange: range
  temporaryAccessStartTime: startsAt temporaryAccessEndTime: endsAt isActive createdAt updatedAt`;
const MODE = {
  type: ['string', 'null'],
  enum: ['relative', null],
  description: 'How a time is given; null: for good.',
};

/** A privilege with the field names of the REST interface. */
export const toReply = ({ permissions, ...privilege }: Data): Data => ({
  ...privilege,
  temporaryMode: ofSample(privilege.temporaryRange, MODE) ?? (privilege.temporaryRange === null ? null : 'relative'),
  ...withReplyPermissions({ permissions }),
});

/** The response of a mutation. */
export const replyOf =
  (field: string, shown = toReply) =>
  (data: Data): Data => ({ privilege: shown(data[field].privilege) });

/** The response of a list. */
export const listReplyOf =
  (shown = toReply) =>
  ({ additionalPrivileges: { nodes, pageInfo } }: Data): Data => ({
    privileges: nodes.map((node: Data) => shown(node)),
    ...nextCursor(pageInfo),
  });

export const text = (description: string) => z.string().max(64).meta({ description });
export const identityId = text('ID of the machine identity.');
export const slug = privilegeSlug.nullish().meta({
  description:
    'Slug of the privilege: lowercase words joined by hyphens, 1 to 64 characters, unique for the member. Generated when absent.',
});
export const newSlug = privilegeSlug.optional().meta({ description: 'New slug, unique for the member.' });

/** Clients send these fields for permanent privileges too: then they are ignored. */
export const temporary = {
  temporaryMode: z.string().nullish().meta({ description: 'Can only be relative.' }),
  temporaryRange: z
    .string()
    .nullish()
    .meta({ description: 'How long, as `30m`, `2h`, `7d` or `4w`. Required for a time.' }),
  temporaryAccessStartTime: z
    .string()
    .nullish()
    .meta({ description: 'From when on (RFC 3339); from now on when absent.' }),
};

/** The term in a body. */
interface Temporary {
  readonly isTemporary?: boolean | undefined;
  readonly temporaryMode?: string | null | undefined;
  readonly temporaryRange?: string | null | undefined;
  readonly temporaryAccessStartTime?: string | null | undefined;
}

/** Adds a violation for each invalid field of a term. */
export function checkTime(given: Temporary, issues: z.core.$RefinementCtx): void {
  if (given.isTemporary !== true) return;
  const refuse = (name: keyof Temporary, message: string): void =>
    issues.addIssue({ code: 'custom', path: [name], message });
  const { temporaryMode: mode, temporaryAccessStartTime: start } = given;
  if (mode != null && mode !== 'relative') refuse('temporaryMode', 'must be relative');
  const range = termRange.safeParse(given.temporaryRange);
  if (!range.success) refuse('temporaryRange', range.error.issues[0]?.message ?? 'required');
  if (start != null && !z.iso.datetime({ offset: true }).safeParse(start).success)
    refuse('temporaryAccessStartTime', 'must be a date and time (RFC 3339)');
}

/** A term in the form of the schema; null: permanent. */
export const termOf = ({ isTemporary, temporaryRange, temporaryAccessStartTime }: Temporary) =>
  isTemporary === true ? { range: temporaryRange, startsAt: temporaryAccessStartTime } : null;
