import * as contract from '@signalbox/contract';
import type { Plugin } from 'vite';

const MODULE_ID = 'virtual:contract-data';
/** The leading NUL marks a module that no other plugin may resolve (Rollup's convention). */
const RESOLVED_ID = `\0${MODULE_ID}`;

type Groups = Record<string, Record<string, { readonly path: string }>>;

function pathsOf(groups: Groups): Record<string, Record<string, string>> {
  return Object.fromEntries(
    Object.entries(groups).map(([group, rows]) => [
      group,
      Object.fromEntries(
        Object.entries(rows).map(([action, row]) => [action, contract.consolePathOf(row)]),
      ),
    ]),
  );
}

/**
 * Provides the data of the contract that the console needs at run time. The rows contain every
 * schema of the wire, but the console needs only their types (erased at build time) and paths.
 * Reading them at build time keeps the wire in one place and the schema library out of the bundle.
 */
export function contractData(): Plugin {
  const exports = {
    endpointPaths: pathsOf({ ...contract.consoleEndpoints, ...contract.mirroredEndpoints }),
    enqueuePath: contract.endpoints.jobs.enqueue.path,
    jobKinds: contract.jobKinds,
    attachmentsMax: contract.ATTACHMENTS_MAX,
    variantsMax: contract.VARIANTS_MAX,
    uploadBytesMax: contract.UPLOAD_BYTES_MAX,
    jobStatuses: contract.jobStatuses,
    knownRunStatuses: contract.knownRunStatuses,
    passwordCharsMin: contract.PASSWORD_CHARS_MIN,
    passwordCharsMax: contract.PASSWORD_CHARS_MAX,
    errorConditions: Object.fromEntries(
      Object.entries(contract.errorCodes).map(([code, [, condition]]) => [code, condition]),
    ),
  };
  const source = Object.entries(exports)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
    .join('\n');
  return {
    name: 'signalbox-contract-data',
    resolveId: (id) => (id === MODULE_ID ? RESOLVED_ID : undefined),
    load: (id) => (id === RESOLVED_ID ? source : undefined),
  };
}
