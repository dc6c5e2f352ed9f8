import { sql } from 'kysely';
import { t } from '../../../kernel/database/statement.js';
import { anyOf, prepared } from '../../../kernel/database/tables.js';
import { type Lists, type Texts, tables } from '../entities/tables.js';

/** Tags of a secret as rules see them. @param secretId the column with its id */
export const tagSlugsOf = (
  secretId: string,
): string => `(select coalesce(json_agg(json_build_object('slug', t.slug)), '[]')
    from secret_tag st join tag t on t.id = st.tag_id where st.secret_id = ${secretId})`;

/** Tags as rules see them. */
type TagSlugs = readonly { readonly slug: string }[];

/** What `tagSlugsOf` returns. */
export const TAG_SLUGS = t.builtJsonOf<TagSlugs>();

const subjects = tables
  .selectFrom('secret as s')
  .innerJoin('folder as f', 'f.id', 's.folder_id')
  .innerJoin('environment as e', 'e.id', 'f.environment_id')
  .select([
    's.folder_id as folderId',
    'e.slug as environment',
    'f.path',
    's.key',
    sql<TagSlugs>`${sql.raw(tagSlugsOf('s.id'))}`.as('tags'),
  ]);

/** The secrets of folders, for rules that depend on single ones. */
export const listSubjects = prepared(({ folderIds }: Lists<'folderIds'>) =>
  subjects.where('s.folder_id', '=', anyOf(folderIds)),
);

/** The secrets that have a tag. */
export const listCarriers = prepared(({ tagId }: Texts<'tagId'>) =>
  subjects.where(sql<boolean>`s.id in (select st.secret_id from secret_tag st where st.tag_id = ${tagId})`),
);
