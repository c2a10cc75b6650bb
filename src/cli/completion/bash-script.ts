import { type CompletedCommand, commandTree, type Offer } from './completion-model.js';

/** The completion script for bash 3.2 and later; needs nothing but bash. */
export function bashScript(model: readonly CompletedCommand[]): string {
  const tree = commandTree(model);
  const families = tree.filter(({ parts }) => parts.length > 0);
  const flagCases = model.map(({ flags, path }) => {
    const all = flags.flatMap(({ spellings }) => spellings);
    const switches = flags.filter(({ value }) => value === null).flatMap(({ spellings }) => spellings);
    return `    ${quoted(path)}) flags=${quoted(all.join(' '))}; switches=${quoted(switches.join(' '))} ;;`;
  });
  const valueCases = casesOf(
    model.flatMap(({ flags, path }) =>
      flags.flatMap(({ isList, spellings, value }) =>
        value === null || value.type === 'nothing'
          ? []
          : spellings.map((spelling) => [`${path} ${spelling}`, offerCode(value, isList)] as const),
      ),
    ),
  );
  const operandCases = casesOf(
    model.flatMap(({ operands, path }) =>
      operands.map((offer, i) => [`${path} ${i === operands.length - 1 ? '*' : i}`, offerCode(offer, false)] as const),
    ),
  );
  return `# bash completion for twinyard: source <(twinyard completion bash)
_twinyard_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_twinyard_list() {
  local done=''
  case "$cur" in *,*) done="\${cur%,*}," ;; esac
  COMPREPLY=($(compgen -P "$done" -W "$1" -- "\${cur##*,}"))
  compopt -o nospace 2>/dev/null
}
_twinyard_files() { COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null; }
_twinyard_names() { _twinyard_words "$("$program" completion names "$1" "\${words[@]:1}" 2>/dev/null)"; }

# Bash splits words at = and : and replaces the last piece only.
_twinyard() {
  local IFS=$' \\t\\n' program="\${COMP_WORDS[0]}" piece='' glue='' cur='' kept='' i
  local words=()
  COMPREPLY=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece="\${COMP_WORDS[i]}"
    case "$piece" in
      [=:] | [=:][=:]) words[\${#words[@]}-1]+="$piece"; glue=1; piece='' ;;
      *) if [ -n "$glue" ]; then words[\${#words[@]}-1]+="$piece"; else words+=("$piece"); fi; glue='' ;;
    esac
  done
  cur="\${words[\${#words[@]}-1]}"
  _twinyard_find
  kept="\${cur%"$piece"}"
  if [ -n "$kept" ]; then
    for i in "\${!COMPREPLY[@]}"; do COMPREPLY[i]="\${COMPREPLY[i]#"$kept"}"; done
  fi
}

_twinyard_find() {
  local command="\${words[1]}" last=$((\${#words[@]} - 1)) flags='' switches='' word flag='' first='' operands=0 i=2
  if [ "$last" -eq 1 ]; then
    _twinyard_words ${quoted(['help', ...tree.map(({ name }) => name), '--help', '--version'].join(' '))}
    return
  fi
  case "$command" in
    help) _twinyard_words ${quoted(tree.map(({ name }) => name).join(' '))}; return ;;
${families
  .map(({ name, parts }) => {
    const names = parts.map(({ path }) => path.split(' ')[1]).join(' ');
    return `    ${name}) if [ "$last" -eq 2 ]; then _twinyard_words ${quoted(`${names} --help`)}; return; fi
      command="$command \${words[2]}"; i=3 ;;`;
  })
  .join('\n')}
  esac
  case "$command" in
${flagCases.join('\n')}
    *) return ;;
  esac
  while [ "$i" -lt "$last" ]; do
    word="\${words[i]}"
    if [ -n "$flag" ]; then flag=''
    else
      case "$word" in
        -*=*) ;;
        -?*) case " $switches " in *" $word "*) ;; *) flag="$word" ;; esac ;;
        *) if [ "$operands" -eq 0 ]; then first="$word"; fi; operands=$((operands + 1)) ;;
      esac
    fi
    i=$((i + 1))
  done
  case "$cur" in --*=*) flag="\${cur%%=*}"; cur="\${cur#*=}" ;; esac
  if [ -n "$flag" ]; then
    case "$command $flag" in
${valueCases}
    esac
    return
  fi
  case "$cur" in -*) _twinyard_words "$flags"; return ;; esac
  case "$command $operands" in
${operandCases}
  esac
}
complete -F _twinyard twinyard
`;
}

function offerCode(offer: Offer, isList: boolean): string {
  switch (offer.type) {
    case 'words':
      return `${isList ? '_twinyard_list' : '_twinyard_words'} ${quoted(offer.words.join(' '))}`;
    case 'files':
      return '_twinyard_files';
    case 'names':
      return `_twinyard_names ${offer.kind === null ? '"$first"' : quoted(offer.kind)}`;
    case 'nothing':
      return ':';
  }
}

/** Cases with the same code share a line. */
function casesOf(entries: readonly (readonly [string, string])[]): string {
  const byCode = new Map<string, string[]>();
  for (const [pattern, code] of entries) byCode.set(code, [...(byCode.get(code) ?? []), pattern]);
  // A star matches any position: named positions come first.
  const isOpen = ([, patterns]: [string, string[]]) => patterns.some((pattern) => pattern.endsWith('*'));
  const ordered = [...byCode].sort((a, b) => Number(isOpen(a)) - Number(isOpen(b)));
  return ordered
    .map(([code, patterns]) => {
      const all = patterns.map((one) => (one.endsWith(' *') ? `${quoted(one.slice(0, -1))}*` : quoted(one)));
      return `      ${all.join(' | ')}) ${code} ;;`;
    })
    .join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
