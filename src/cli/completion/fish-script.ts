import { type CompletedCommand, commandTree, type Offer } from './completion-model.js';

/** The completion script for fish. */
export function fishScript(model: readonly CompletedCommand[]): string {
  const tree = commandTree(model);
  const lines = [
    ...tree.map(({ name, summary }) => {
      return `complete -c twinyard -n '__twinyard_at 1' -f -a ${name} -d ${quoted(summary)}`;
    }),
    `complete -c twinyard -n '__twinyard_at 1' -f -s h -l help -d 'print help'`,
    `complete -c twinyard -n '__twinyard_at 1' -f -s v -l version -d 'print the version'`,
    ...tree.flatMap(({ name, parts }) =>
      parts.map(({ path, summary }) => {
        const part = path.split(' ')[1]!;
        return `complete -c twinyard -n '__twinyard_is ${name}; and __twinyard_at 2' -f -a ${part} -d ${quoted(summary)}`;
      }),
    ),
    ...model.flatMap(commandLines),
  ];
  return `# fish completion for twinyard: twinyard completion fish | source
function __twinyard_words
    commandline -opc
end
# Whether the word with this number is being typed; the program has number 0.
function __twinyard_at
    test (count (__twinyard_words)) -eq $argv[1]
end
# Whether the words behind the program start with these.
function __twinyard_is
    set -l words (__twinyard_words)[2..-1]
    test (count $words) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        test "$words[$i]" = "$argv[$i]"; or return 1
    end
end
# Whether so many operands (-eq), or at least so many (-ge), follow the words of a command.
function __twinyard_operands
    set -l from (math $argv[1] + 2)
    set -l words (__twinyard_words)
    test (count (string match -v -- '-*' $words[$from..-1])) $argv[2] $argv[3]
end
function __twinyard_names
    set -l words (__twinyard_words)
    $words[1] completion names $argv[1] $words[2..-1] 2>/dev/null
end
${lines.join('\n')}
`;
}

function commandLines({ flags, operands, path }: CompletedCommand): string[] {
  const depth = path.split(' ').length;
  const is = `__twinyard_is ${path}`;
  const flagLines = flags.map(({ help, spellings, value }) => {
    const names = spellings.map((one) => (one.startsWith('--') ? `-l ${one.slice(2)}` : `-s ${one.slice(1)}`));
    return `complete -c twinyard -n ${quoted(is)} ${names.join(' ')} -d ${quoted(help)}${valueText(value)}`;
  });
  const operandLines = operands.map((offer, i) => {
    const count = `${i === operands.length - 1 ? '-ge' : '-eq'} ${i}`;
    const condition = `${is}; and __twinyard_operands ${depth} ${count}`;
    return `complete -c twinyard -n ${quoted(condition)}${operandText(offer)}`;
  });
  return [...flagLines, ...operandLines];
}

function valueText(value: Offer | null): string {
  if (value === null) return ' -f';
  if (value.type === 'files') return ' -r -F';
  return value.type === 'words' ? ` -x -a ${quoted(value.words.join(' '))}` : ' -x';
}

function operandText(offer: Offer): string {
  switch (offer.type) {
    case 'words':
      return ` -f -a ${quoted(offer.words.join(' '))}`;
    case 'files':
      return ' -F';
    case 'names':
      return ` -f -a ${quoted(`(__twinyard_names ${offer.kind ?? '(__twinyard_words)[3]'})`)}`;
    case 'nothing':
      return ' -f';
  }
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
