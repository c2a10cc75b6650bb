import { type CompletedCommand, type CompletedFlag, commandTree, type Offer } from './completion-model.js';

/** The completion script for zsh. */
export function zshScript(model: readonly CompletedCommand[]): string {
  const tree = commandTree(model);
  const described = (list: readonly { name: string; summary: string }[]) =>
    list.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(':', '\\:')}`)}`).join('\n');
  const cases = [
    "    help) _arguments '1: :_twinyard_commands' ;;",
    ...tree.map(({ name }) => `    ${name}) _twinyard_${name} ;;`),
  ];
  const families = tree
    .filter(({ parts }) => parts.length > 0)
    .map(({ name, parts }) => {
      const list = parts.map(({ path, summary }) => ({ name: path.split(' ')[1]!, summary }));
      return `_twinyard_${name}() {
  local state line
  _arguments -C '1: :->command' '*:: :->arguments' && return
  if [[ $state == command ]]; then
    local -a commands=(
${described(list)}
    )
    _describe -t commands command commands
    return
  fi
  case $line[1] in
${list.map((one) => `    ${one.name}) _twinyard_${name}_${one.name} ;;`).join('\n')}
  esac
}
`;
    });
  const functions = model.map(
    ({ flags, operands, path }) => `_twinyard_${path.replace(' ', '_')}() {
  _arguments -s : \\
${[...flags.map(flagSpec), ...operands.map((offer, i) => operandSpec(offer, i, i === operands.length - 1))]
  .map((spec) => `    ${spec}`)
  .join(' \\\n')}
}
`,
  );
  return `#compdef twinyard
# zsh completion for twinyard: source <(twinyard completion zsh), or save it as _twinyard in a folder of $fpath

# The names of the resources of a kind: of the first operand where none is given. While an action runs, line has the operands.
_twinyard_names() {
  local kind=\${1:-$line[1]}
  local -a names=(\${(f)"$("$_twinyard_program" completion names "$kind" "\${_twinyard_words[@]}" 2>/dev/null)"})
  compadd -a names
}

${functions.join('\n')}
${families.join('\n')}
_twinyard_commands() {
  local -a commands=(
${described([{ name: 'help', summary: 'print the help of a command' }, ...tree])}
  )
  _describe -t commands command commands
}

_twinyard() {
  local state line _twinyard_program=\${words[1]}
  local -a _twinyard_words=("\${(@)words[2,-1]}")
  _arguments -C '(-h --help)'{-h,--help}'[print help]' '(-v --version)'{-v,--version}'[print the version]' '1: :->command' '*:: :->arguments' && return
  if [[ $state == command ]]; then
    _twinyard_commands
    return
  fi
  case $line[1] in
${cases.join('\n')}
  esac
}

if [[ \${funcstack[1]} == _twinyard ]]; then _twinyard "$@"; else compdef _twinyard twinyard; fi
`;
}

function flagSpec({ help, isList, spellings, value }: CompletedFlag): string {
  const text = help.replace(/[[\]\\:]/g, '\\$&');
  const names = spellings.length === 1 ? quoted(spellings[0]!) : `'(${spellings.join(' ')})'{${spellings.join(',')}}`;
  return `${names}${quoted(`[${text}]${value === null ? '' : `:value:${action(value, isList)}`}`)}`;
}

function operandSpec(offer: Offer, position: number, isLast: boolean): string {
  return quoted(`${isLast ? '*' : position + 1}: :${action(offer, false)}`);
}

function action(offer: Offer, isList: boolean): string {
  switch (offer.type) {
    case 'words':
      // The leading space keeps _arguments from adding options of its own, which _values does not take.
      return isList ? ` _values -s , value ${offer.words.join(' ')}` : `(${offer.words.join(' ')})`;
    case 'files':
      return '_files';
    case 'names':
      return `{_twinyard_names ${offer.kind ?? ''}}`;
    case 'nothing':
      return ' ';
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
