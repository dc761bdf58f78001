import { Argument, type Command } from 'commander';
import { defineCommand } from '../command-module.ts';

type Shell = 'bash' | 'zsh' | 'fish';
const shells: readonly Shell[] = ['bash', 'zsh', 'fish'];

/** The words that may follow a command: subcommands and flags. */
interface Level {
  /** The words before, without `signalbox`; empty at the top level. */
  path: string;
  words: { word: string; meaning: string }[];
}

/** `signalbox completion SHELL`: prints a completion script generated from the command table. */
export const command = defineCommand<Record<string, never>>({
  describe(program) {
    program.addArgument(new Argument('<shell>', 'the shell').choices(shells));
  },

  json: null,
  examples: [
    ['source <(signalbox completion bash)', 'in ~/.bashrc'],
    ['source <(signalbox completion zsh)', 'in ~/.zshrc'],
    ['signalbox completion fish | source', 'in ~/.config/fish/config.fish'],
  ],

  async run({ io, args, loadProgram }) {
    const levels = levelsOf(await loadProgram(), []);
    const [shell] = args;
    io.printText(shell === 'fish' ? fishScript(levels) : bashScript(levels, shell === 'zsh'));
  },
});

function levelsOf(program: Command, path: readonly string[]): Level[] {
  const children = program.commands.map((child) => ({
    word: child.name(),
    meaning: child.summary() || child.description(),
  }));
  const flags = program.options.flatMap(({ long, description }) =>
    long ? [{ word: long, meaning: description }] : [],
  );
  const words = [...children, ...flags, { word: '--help', meaning: 'print help' }];
  const below = program.commands.flatMap((child) => levelsOf(child, [...path, child.name()]));
  return [{ path: path.join(' '), words }, ...below];
}

function bashScript(levels: readonly Level[], isZsh: boolean): string {
  const cases = levels.map(
    ({ path, words }) => `    '${path}') words='${words.map(({ word }) => word).join(' ')}' ;;`,
  );
  const paths = levels.map(({ path }) => `'${path}'`).join(' ');
  return `${isZsh ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_signalbox() {
  local at path='' next words=''
  for ((at = 1; at < COMP_CWORD; at++)); do
    next="\${path:+$path }\${COMP_WORDS[at]}"
    case " ${paths.replaceAll("' '", '|').replaceAll("'", '')} " in
      *"|$next|"*|*"|$next "*) path="$next" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _signalbox signalbox`;
}

function fishScript(levels: readonly Level[]): string {
  const lines = levels.flatMap(({ path, words }) =>
    words.map(({ word, meaning }) => {
      const is = `__signalbox_at '${path}'`;
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c signalbox -n "${is}" ${what} -d '${meaning.replaceAll("'", "\\'")}'`;
    }),
  );
  const paths = levels.map(({ path }) => `'${path}'`).join(' ');
  return `function __signalbox_at
  set -l path ''
  for word in (commandline -opc)[2..]
    set -l next (string trim "$path $word")
    contains -- "$next" ${paths}; and set path "$next"
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}`;
}
