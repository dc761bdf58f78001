import { VERSION } from '@signalbox/contract/version';

/** The parts of a package.json that packing reads or writes. */
export interface Manifest {
  readonly name: string;
  readonly description?: string;
  readonly license?: string;
  readonly type?: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * The package.json of a packed package, from that of its source: without what concerns the clone
 * only (`private`, development packages), with the version, and with built files in place of
 * sources.
 *
 * @param nodePackages the packages that contain Node, for a package that has a command.
 * @param files what the package holds beside package.json, README and licence.
 */
export function packedManifest(
  source: Manifest,
  nodePackages: Readonly<Record<string, string>>,
  files: readonly string[],
) {
  const { name, description, license, type, engines, bin } = source;
  const optional = bin === undefined ? source.optionalDependencies : nodePackages;
  return {
    name,
    version: VERSION,
    description,
    license,
    type,
    engines,
    bin,
    exports: Object.fromEntries(
      Object.entries(source.exports ?? {}).map(([path, file]) => [path, builtExport(file)]),
    ),
    files,
    dependencies: pinOwn(source.dependencies ?? {}),
    optionalDependencies: optional,
    publishConfig: { access: 'public' },
  };
}

/** Packages of one release need each other in exactly its version. */
function pinOwn(dependencies: Readonly<Record<string, string>>): Record<string, string> {
  const pinned = Object.entries(dependencies).map(([name, version]) => [
    name,
    name.startsWith('@signalbox/') ? VERSION : version,
  ]);
  return Object.fromEntries(pinned);
}

function builtExport(file: string): string | { types: string; default: string } {
  const [, path] = /^\.\/src\/(.+)\.ts$/.exec(file) ?? [];
  if (path === undefined) return file;
  return { types: `./dist/${path}.d.ts`, default: `./dist/${path}.js` };
}
