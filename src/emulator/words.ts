/**
 * The vocabulary of responses. A token is four bytes, so words come in lengths that fill whole tokens together with the space
 * before them and the full stop behind them. Nothing here needs escaping in JSON.
 */
const list = (words: string) => words.split(' ');

/** The first word of a response: no space before it. */
export const FIRST = list('This That When Here Then Some Most Each Many Such Good Well');

/** Words inside a sentence, by the tokens they take. */
export const INNER: readonly (readonly string[])[] = [
  list(
    'the and for you can not but all new our has its was one two may use any few how why now see set way day end far old own ' +
      'who yet off too out big low top run put say ask try let get map bus car sea sun sky air key job law',
  ),
  list(
    'because between another example through without process request measure certain morning station pattern balance company ' +
      'history problem picture science service several whether nothing against general natural perhaps present reading weather',
  ),
  list('information development independent engineering performance temperature opportunity combination description'),
];

/** Last words of a sentence: a full stop follows. */
export const LAST: readonly (readonly string[])[] = [
  list('it so do us me on in up go is'),
  list('better system number answer people method change result moment detail growth market nature season window'),
];
