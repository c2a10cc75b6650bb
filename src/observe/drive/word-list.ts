/**
 * A hundred common words of three letters. With the space before them they are one token each in the vocabularies of most
 * models, and four bytes: a prompt's length is as good as known before any server has counted it.
 */
export const WORDS: readonly string[] = [
  'the and for are but not you all any can had her was one our out day get has him his how man new now',
  'old see two way who boy did its let put say she too use big box car cat cup dog ear eye far few fly',
  'fun got hot ice job key law leg lot low map may men mix net oil own pay pen per red run sea set sir',
  'sit six sky son sun tax tea ten top try war wet win yes yet air arm art bad bag bar bed bit ago aid',
]
  .join(' ')
  .split(' ');
