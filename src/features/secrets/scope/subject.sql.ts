import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Tags of a secret as rules see them. @param secretId the column with its id */
export const tagSlugsOf = (
  secretId: string,
): string => `(select coalesce(json_agg(json_build_object('slug', t.slug)), '[]')
    from secret_tag st join tag t on t.id = st.tag_id where st.secret_id = ${secretId})`;

/** What `tagSlugsOf` returns. */
export const TAG_SLUGS = t.builtJsonOf<readonly { readonly slug: string }[]>();

const SELECT = `select s.folder_id as "folderId", e.slug as environment, f.path, s.key,
    ${tagSlugsOf('s.id')} as tags
  from secret s join folder f on f.id = s.folder_id join environment e on e.id = f.environment_id`;

const SUBJECT = { folderId: t.uuid, environment: t.text, path: t.text, key: t.text, tags: TAG_SLUGS } as const;

/** The secrets of folders, for rules that depend on single ones. */
export const listSubjects = sqlStatement({
  text: `${SELECT} where s.folder_id = any(:folderIds::uuid[])`,
  params: { folderIds: t.array(t.uuid) },
  row: SUBJECT,
});

/** The secrets that have a tag. */
export const listCarriers = sqlStatement({
  text: `${SELECT} where s.id in (select st.secret_id from secret_tag st where st.tag_id = :tagId)`,
  params: { tagId: t.uuid },
  row: SUBJECT,
});
