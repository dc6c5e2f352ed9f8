/** SQL for when a row may be dropped, `2027-01-01`, whatever the settings of the session are; null: never. */
export const EXPIRES_ON = `case when isfinite(expires_on) then to_char(expires_on, 'YYYY-MM-DD') end as "expiresOn"`;
