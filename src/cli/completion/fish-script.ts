import { type CompletedCommand, commandTree, type Offer } from './completion-model.js';

/** The completion script for fish. */
export function fishScript(model: readonly CompletedCommand[]): string {
  const tree = commandTree(model);
  const lines = [
    ...tree.map(({ name, summary }) => {
      return `complete -c twinyard -n '__twinyard_at 1' -f -a ${name} -d ${quoted(summary)}`;
    }),
    `complete -c twinyard -n '__twinyard_at 1' -f -a help -d 'print the help of a command'`,
    `complete -c twinyard -n '__twinyard_is help; and __twinyard_at 2' -f -a ${quoted(tree.map(({ name }) => name).join(' '))}`,
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
# The operands after the words of a command: arguments are their number, then the flags without a value.
function __twinyard_operands
    set -l words (__twinyard_words)
    set -l from (math $argv[1] + 2)
    set -l is_value 0
    for word in $words[$from..-1]
        if test $is_value -eq 1
            set is_value 0
        else if not string match -q -- '-*' $word
            echo $word
        else if not string match -q -- '-*=*' $word; and not contains -- $word $argv[2..-1]
            set is_value 1
        end
    end
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
  const flagLines = flags.map(({ help, isList, spellings, value }) => {
    const names = spellings.map((one) => (one.startsWith('--') ? `-l ${one.slice(2)}` : `-s ${one.slice(1)}`));
    return `complete -c twinyard -n ${quoted(is)} ${names.join(' ')} -d ${quoted(help)}${valueText(value, isList)}`;
  });
  const switches = flags.filter(({ value }) => value === null).flatMap(({ spellings }) => spellings);
  const given = `(__twinyard_operands ${depth} ${switches.join(' ')})`;
  const operandLines = operands.map((offer, i) => {
    const count = `${i === operands.length - 1 ? '-ge' : '-eq'} ${i}`;
    const condition = operands.length === 1 ? is : `${is}; and test (count ${given}) ${count}`;
    return `complete -c twinyard -n ${quoted(condition)}${operandText(offer, given)}`;
  });
  return [...flagLines, ...operandLines];
}

function valueText(value: Offer | null, isList: boolean): string {
  switch (value?.type) {
    case undefined:
      return ' -f';
    case 'words': {
      const all = value.words.join(' ');
      return ` -x -a ${quoted(isList ? `(__fish_complete_list , "printf '%s\\n' ${all}")` : all)}`;
    }
    case 'files':
      return ' -r -F';
    case 'names':
      return ` -x -a ${quoted(`(__twinyard_names ${value.kind})`)}`;
    case 'nothing':
      return ' -x';
  }
}

/** @param given the command that prints the operands before this one */
function operandText(offer: Offer, given: string): string {
  switch (offer.type) {
    case 'words':
      return ` -f -a ${quoted(offer.words.join(' '))}`;
    case 'files':
      return ' -F';
    case 'names':
      return ` -f -a ${quoted(`(__twinyard_names ${offer.kind ?? `${given}[1]`})`)}`;
    case 'nothing':
      return ' -f';
  }
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
