export { Tag, type TagSchema } from './tag.entity.js';
export { findTags, type TagRow } from './tag.queries.js';
export { TagType } from './tag.resolver.js';
export { tagSlug } from './tag.rules.js';
