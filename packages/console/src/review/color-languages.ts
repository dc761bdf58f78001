/** The grammar of a file by its name; undefined: its lines stay without colors. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  if (name === 'makefile' || name === 'gnumakefile') return 'makefile';
  return byExtension[name.slice(name.lastIndexOf('.') + 1)];
}

/** Of the grammars that come with lowlight's `common`. */
const byExtension: Readonly<Record<string, string>> = {
  ...{ sh: 'bash', bash: 'bash', zsh: 'bash', c: 'c', h: 'c', cc: 'cpp', cpp: 'cpp', hpp: 'cpp' },
  ...{ cs: 'csharp', css: 'css', go: 'go', graphql: 'graphql', gql: 'graphql', ini: 'ini' },
  ...{ toml: 'ini', java: 'java', js: 'javascript', cjs: 'javascript', mjs: 'javascript' },
  ...{ jsx: 'javascript', json: 'json', kt: 'kotlin', kts: 'kotlin', less: 'less', lua: 'lua' },
  ...{ mk: 'makefile', md: 'markdown', m: 'objectivec', pl: 'perl', pm: 'perl', php: 'php' },
  ...{ py: 'python', pyi: 'python', r: 'r', rb: 'ruby', rs: 'rust', scss: 'scss', sql: 'sql' },
  ...{ swift: 'swift', ts: 'typescript', cts: 'typescript', mts: 'typescript' },
  ...{ tsx: 'typescript', vb: 'vbnet', wasm: 'wasm', wat: 'wasm', xml: 'xml', html: 'xml' },
  ...{ htm: 'xml', svg: 'xml', vue: 'xml', yaml: 'yaml', yml: 'yaml' },
};
