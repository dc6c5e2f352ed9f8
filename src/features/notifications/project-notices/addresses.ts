import * as z from 'zod';

/** Whether a username is an email address. */
export const hasAddress = ({ username }: { readonly username: string }): boolean => z.regexes.email.test(username);
