/** What a failure of the database means to a caller. */
type StoreFailure = 'STORE_UNAVAILABLE' | 'DEADLINE_EXCEEDED' | 'CONCURRENT_CHANGE' | 'INTERNAL';

/** Every class of SQLSTATE (PostgreSQL manual, appendix A). INTERNAL is a mistake of ours: a statement that is wrong. */
const CLASSES: Readonly<Record<string, StoreFailure>> = {
  '00': 'INTERNAL', // successful completion
  '01': 'INTERNAL', // warning
  '02': 'INTERNAL', // no data
  '03': 'INTERNAL', // statement not yet complete
  '08': 'STORE_UNAVAILABLE', // connection
  '09': 'INTERNAL', // triggered action
  '0A': 'INTERNAL', // feature not supported
  '0B': 'INTERNAL', // invalid transaction initiation
  '0F': 'INTERNAL', // locator
  '0L': 'INTERNAL', // invalid grantor
  '0P': 'INTERNAL', // invalid role specification
  '0Z': 'INTERNAL', // diagnostics
  '10': 'INTERNAL', // XQuery
  '20': 'INTERNAL', // case not found
  '21': 'INTERNAL', // cardinality
  '22': 'INTERNAL', // data
  '23': 'INTERNAL', // integrity constraint; those that callers can break have codes of their own
  '24': 'INTERNAL', // cursor state
  '25': 'INTERNAL', // transaction state
  '26': 'INTERNAL', // statement name
  '27': 'INTERNAL', // triggered data change
  '28': 'STORE_UNAVAILABLE', // authorization: it lets nobody in
  '2B': 'INTERNAL', // dependent privileges
  '2D': 'INTERNAL', // transaction termination
  '2F': 'INTERNAL', // SQL routine
  '34': 'INTERNAL', // cursor name
  '38': 'INTERNAL', // external routine
  '39': 'INTERNAL', // external routine invocation
  '3B': 'INTERNAL', // savepoint
  '3D': 'STORE_UNAVAILABLE', // catalog name: the database does not exist any more
  '3F': 'INTERNAL', // schema name
  '40': 'CONCURRENT_CHANGE', // transaction rollback
  '42': 'INTERNAL', // syntax or access rule
  '44': 'INTERNAL', // check option
  '53': 'STORE_UNAVAILABLE', // resources: disk, memory, connections
  '54': 'INTERNAL', // program limit
  '55': 'STORE_UNAVAILABLE', // object not in the state that is needed
  '57': 'STORE_UNAVAILABLE', // operator intervention: shutdown, crash, start
  '58': 'STORE_UNAVAILABLE', // system error outside of Postgres
  '72': 'STORE_UNAVAILABLE', // snapshot too old
  F0: 'STORE_UNAVAILABLE', // configuration file
  HV: 'INTERNAL', // foreign data wrapper
  P0: 'INTERNAL', // PL/pgSQL
  XX: 'STORE_UNAVAILABLE', // internal error of Postgres, damaged data
};

/** Codes that mean something else than their class. */
const CODES: Readonly<Record<string, StoreFailure>> = {
  '25006': 'STORE_UNAVAILABLE', // read-only: a standby, or a server whose disk is full
  '25P03': 'DEADLINE_EXCEEDED', // idle in transaction
  '25P04': 'DEADLINE_EXCEEDED', // transaction timeout
  '40002': 'INTERNAL', // integrity constraint at commit
  '40003': 'STORE_UNAVAILABLE', // whether it is complete is not known
  '55P03': 'DEADLINE_EXCEEDED', // lock not available
  '57014': 'DEADLINE_EXCEEDED', // query canceled
};

/** Failures of sockets and of name resolution, by the code of Node. */
const SOCKET =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOENT|EAGAIN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EMFILE|ENFILE)$/;

/**
 * What a failure means, by its SQLSTATE or the code of a socket.
 *
 * @returns undefined for a code that is of neither kind
 */
export function storeFailureOf(code: string): StoreFailure | undefined {
  if (SOCKET.test(code)) return 'STORE_UNAVAILABLE';
  return code.length === 5 ? (CODES[code] ?? CLASSES[code.slice(0, 2)]) : undefined;
}

/** Classes of failures that come from the values of a statement: with others it succeeds. */
const OF_DATA: ReadonlySet<string> = new Set([
  '21', // cardinality
  '22', // data
  '23', // integrity constraint
  '44', // check option
  '54', // program limit
  'P0', // raised by a function
]);

/** Whether a SQLSTATE is about the values of a statement. */
export const isDataError = (code: string): boolean => code.length === 5 && OF_DATA.has(code.slice(0, 2));
