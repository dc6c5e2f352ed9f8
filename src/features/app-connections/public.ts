export { type ConnectionReader, type OpenedConnection, openConnection } from './connection.reader.js';
export { DATATOOL_LIMIT_MS, DatatoolClient } from './datatool/datatool-client.js';
export { refusalOf, type TargetCode, TargetFailure } from './kind/target-failure.js';
