export { type ConnectionReader, type OpenedConnection, openConnection } from './connection.reader.js';
export { SEALED_CREDENTIALS } from './connection-sealing.js';
export { DATATOOL_LIMIT_MS, DatatoolClient } from './datatool/datatool-client.js';
export { datatoolCredentialsOf } from './datatool/datatool-kind.js';
export { refusalOf, type TargetCode, TargetFailure } from './kind/target-failure.js';
export { APPS } from './kinds.js';
export { knownPassword } from './smb/smb.rules.js';
export { SMB_CHANGE_MS, type SmbAccount, SmbClient } from './smb/smb-client.js';
export { smbAccountOf } from './smb/smb-kind.js';
