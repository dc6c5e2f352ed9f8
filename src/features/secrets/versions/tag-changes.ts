import { listCarriers } from '../scope/subject.queries.js';
import { authorizeCarried, mayCarryAll } from '../scope/visibility.rules.js';
import type { AuthorizeTagChange } from '../tags/public.js';
import { listPastCarriers } from './version.sql.js';

/** Secrets, their versions and deleted secrets follow changes of their tags. */
export const authorizeTagChange: AuthorizeTagChange = async (tx, project, { tag, slugAfter }) => {
  if (!mayCarryAll(project.ability)) {
    // Rules match versions and deleted secrets by their tags, under the current slugs.
    const carriers = [
      ...(await listCarriers(tx, { tagId: tag.id })),
      ...(await listPastCarriers(tx, { projectId: project.projectId, tagId: tag.id })),
    ];
    const changes = carriers.map((before) => {
      const others = before.tags.filter(({ slug }) => slug !== tag.slug);
      const tags = slugAfter === null ? others : [...others, { slug: slugAfter }];
      return { before, after: { ...before, tags } };
    });
    await authorizeCarried(project, changes);
  }
  // Also for an unused tag: requests name tags by ID, and whoever assigns it to a secret relies on its slug.
  const after = { secretTags: slugAfter === null ? [] : [slugAfter] };
  return [{ subject: 'secrets', before: { secretTags: [tag.slug] }, after }];
};
