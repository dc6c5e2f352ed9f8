import type { AuthorizeTagChange } from '../tags/public.js';
import { listCarriers } from './subject.records.js';
import { listPastCarriers } from './version.records.js';
import { authorizeCarried, mayCarryAll } from './visibility.rules.js';

/** Secrets, their versions and what is deleted of them follow the tags that they carry. */
export const authorizeTagChange: AuthorizeTagChange = async (tx, project, { tag, slugAfter }) => {
  if (!mayCarryAll(project.ability)) {
    // Rules look at versions and at deleted secrets by the tags that those have, by the slugs of today.
    const carriers = [
      ...(await listCarriers(tx, tag.id)),
      ...(await listPastCarriers(tx, { projectId: project.projectId, tagId: tag.id })),
    ];
    const changes = carriers.map((before) => {
      const others = before.tags.filter(({ slug }) => slug !== tag.slug);
      const tags = slugAfter === null ? others : [...others, { slug: slugAfter }];
      return { before, after: { ...before, tags } };
    });
    await authorizeCarried(project, changes);
  }
  // Also of a tag that nothing has: requests name tags by their ids, and who gives it to a secret goes by the slug it had.
  const after = { secretTags: slugAfter === null ? [] : [slugAfter] };
  return [{ subject: 'secrets', before: { secretTags: [tag.slug] }, after }];
};
