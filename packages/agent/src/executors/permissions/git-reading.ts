import { splitWords } from './shell-words.ts';

/*
 * Which commands of git only read, and only what belongs to the repository. Options are allowed by
 * a list, in git's full spelling: git takes abbreviations of long options, short options that are
 * written together, and options among its operands, so a list of forbidden ones is never complete
 * (`git grep -Osh`, `git diff --outp=x`, `git blame --contents=~/.ssh/id_rsa`).
 */

interface Options {
  /** Long options without their dashes; each may have a value after `=`. */
  long: readonly string[];
  /** Short options, as they may be written, without the dash. */
  short: RegExp;
}

const words = (text: string) => text.split(' ');

const changes = words(
  'stat numstat shortstat dirstat summary compact-summary name-only name-status patch no-patch raw ' +
    'cached staged color no-color word-diff color-words unified minimal patience histogram ' +
    'diff-algorithm ignore-all-space ignore-space-change ignore-blank-lines ignore-space-at-eol ' +
    'find-renames no-renames diff-filter exit-code quiet check full-index abbrev no-abbrev ' +
    'function-context relative no-relative merge-base text inter-hunk-context no-prefix ' +
    'pickaxe-all pickaxe-regex no-ext-diff no-textconv ignore-submodules',
);
const history = words(
  'oneline format pretty graph all branches tags remotes decorate no-decorate max-count skip since ' +
    'until after before author committer grep invert-grep all-match regexp-ignore-case ' +
    'extended-regexp fixed-strings perl-regexp merges no-merges first-parent reverse date ' +
    'relative-date follow left-right cherry-pick cherry-mark abbrev-commit no-abbrev-commit ' +
    'full-history simplify-merges topo-order date-order author-date-order ancestry-path boundary ' +
    'parents children source walk-reflogs cc diff-merges notes no-notes',
);
const changesShort = 'p|s|u|w|b|a|R|W|z|q|[SG].*|U\\d+|[MC]\\d*%?';
const historyShort = `${changesShort}|\\d+|n\\d*|c|m|g|i|E|F|L.*`;

const commands: ReadonlyMap<string, Options> = new Map(
  Object.entries({
    diff: { long: changes, short: changesShort },
    log: { long: [...changes, ...history], short: historyShort },
    show: { long: [...changes, ...history], short: historyShort },
    status: {
      long: words(
        'short branch porcelain long untracked-files ignored show-stash ahead-behind ' +
          'no-ahead-behind find-renames no-renames column no-column',
      ),
      short: '[sbvz]+|u(no|normal|all)?',
    },
    blame: {
      long: words(
        'porcelain line-porcelain incremental root show-name show-number show-email date abbrev ' +
          'color-lines color-by-age since',
      ),
      short: '[ltsewpcfn]+|L.*|[MC]\\d*',
    },
    'rev-parse': {
      long: words(
        'show-toplevel show-prefix show-cdup show-superproject-working-tree git-dir ' +
          'git-common-dir absolute-git-dir abbrev-ref short verify quiet symbolic ' +
          'symbolic-full-name is-inside-work-tree is-inside-git-dir is-bare-repository ' +
          'is-shallow-repository branches tags remotes all',
      ),
      short: 'q',
    },
    'ls-files': {
      long: words(
        'cached deleted modified others ignored stage unmerged killed directory ' +
          'no-empty-directory exclude-standard full-name error-unmatch abbrev exclude eol ' +
          'deduplicate format',
      ),
      short: '[cdmoisutkvz]+|x.*',
    },
    grep: {
      long: words(
        'ignore-case word-regexp invert-match files-with-matches name-only ' +
          'files-without-match count line-number column extended-regexp basic-regexp perl-regexp ' +
          'fixed-strings text color no-color heading break show-function function-context ' +
          'after-context before-context context max-depth max-count and or not all-match cached ' +
          'untracked only-matching null quiet recursive no-recursive full-name exclude-standard',
      ),
      short: '[iwvlLcnEGPFapWhHoqrz]+|\\d+|[ABCm]\\d*|e.*',
    },
  }).map(([name, { long, short }]) => [name, { long, short: new RegExp(`^(${short})$`, 's') }]),
);

/** Whether a line is one command of git that only reads the repository. */
export function isGitReading(line: string): boolean {
  const parts = splitWords(line);
  if (parts === null) return false;
  const [program, name = '', ...rest] = parts;
  const options = commands.get(name);
  return (
    program === 'git' && options !== undefined && rest.every((word) => isHarmless(word, options))
  );
}

/**
 * Words after `--` are judged as well: it may be the value of an option, and more options follow
 * then. Git compares any two files if one of them is outside of the repository.
 */
function isHarmless(word: string, { long, short }: Options): boolean {
  if (word === '--' || word === '-') return word === '--';
  if (word.startsWith('--')) return long.includes(word.slice(2).split('=')[0] ?? '');
  if (word.startsWith('-')) return short.test(word.slice(1));
  return !word.startsWith('/') && !word.split(/[/:]/).includes('..');
}
