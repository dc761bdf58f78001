export {
  type BorrowedDatabase,
  borrowTestDatabase,
  dropIdleDatabases,
} from './borrowed-database.ts';
export { findFreePort, findFreePorts } from './free-ports.ts';
export { type LocalPostgres, type LocalPostgresOptions, startLocalPostgres } from './server.ts';
export { LocalPostgresError } from './start-error.ts';
export {
  createTestDatabase,
  type DatabaseTemplate,
  serverVariable,
  type TestDatabase,
} from './test-database.ts';
