export { groupLinkOf } from './link.resolver.js';
