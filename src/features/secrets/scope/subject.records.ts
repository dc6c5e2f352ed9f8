import type { Context } from '../../../kernel/context.js';
import { query } from '../../../kernel/database/database.js';
import type { SecretSubject } from './visibility.rules.js';

/** The attributes of a secret for rules, and its folder. */
export interface SubjectRecord extends SecretSubject {
  readonly folderId: string;
}

/** Tags of a secret as rules see them. @param secretId the column with its id */
export const tagSlugsOf = (
  secretId: string,
): string => `(select coalesce(json_agg(json_build_object('slug', t.slug)), '[]')
    from secret_tag st join tag t on t.id = st.tag_id where st.secret_id = ${secretId})`;

const SELECT = `select s.folder_id as "folderId", e.slug as environment, f.path, s.key,
    ${tagSlugsOf('s.id')} as tags
  from secret s join folder f on f.id = s.folder_id join environment e on e.id = s.environment_id`;

/** The secrets of folders, for rules that depend on single ones. */
export const listSubjects = (ctx: Context, folderIds: readonly string[]): Promise<SubjectRecord[]> =>
  query<SubjectRecord>(ctx, `${SELECT} where s.folder_id = any($1::uuid[])`, [folderIds]);

/** The secrets that have a tag. */
export const listCarriers = (ctx: Context, tagId: string): Promise<SubjectRecord[]> =>
  query<SubjectRecord>(ctx, `${SELECT} where s.id in (select st.secret_id from secret_tag st where st.tag_id = $1)`, [
    tagId,
  ]);
