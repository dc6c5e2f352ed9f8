import { ID } from 'type-graphql';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';

/** What the API shows of a tag. */
export const TagType = objectType(
  'Tag',
  'A label for secrets of one project.',
  {
    projectId: [ID, 'ID of the project.'],
    slug: [String, 'Slug of the tag, unique in the project, for example `web-shop`.'],
    color: [String, 'Color of the tag, for example `#ff8800`.'],
  },
  { implements: Node },
);
export type TagType = InstanceType<typeof TagType>;

export const TagConnection = countedConnectionOf(TagType, 'Tag', 'slug');
