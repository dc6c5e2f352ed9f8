export { isMailAllowed, refusedAddresses } from './email-domains.js';
