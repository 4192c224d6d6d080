//! The English word lists of this module.

use std::collections::HashSet;
use std::sync::LazyLock;

type Words = LazyLock<HashSet<&'static str>>;

/// Words that return in any prose without being heard.
pub static COMMON: Words = LazyLock::new(|| {
    "about after again against almost along already also although always among another anything around \
     asked away back because been before behind being below between both came cannot come could couldn't \
     didn't does doesn't doing don't done down each either else enough even ever every everything from \
     gave give goes going gone good hadn't have having here hers herself himself hundred inside into it's \
     itself just kept knew know known last less like long made make many might more most much must myself \
     near neither never nobody none nothing once only onto other others ours over people perhaps quite \
     rather really right said same says seem seemed several shall should since some somebody someone \
     something sometimes soon still such take taken tell than that that's their theirs them themselves \
     then there these they thing things think this those though thought three through time together told \
     took toward towards under until upon very want wanted wasn't well went were weren't what when where \
     whether which while whole whom whose will with within without won't would wouldn't years your yours \
     yourself"
        .split(' ')
        .collect()
});

/// Verbs of perception and thought.
pub static FILTERS: Words = LazyLock::new(|| {
    "believed considered decided felt heard hoped imagined knew looked noted noticed observed perceived \
     realised realized recognised recognized remembered saw seemed sensed smelled smelt spotted tasted \
     thought touched understood watched wished wondered"
        .split(' ')
        .collect()
});

/// Words in -ly that are no adverbs of manner.
pub static NO_ADVERBS: Words = LazyLock::new(|| {
    "ally anomaly apply assembly belly bodily bully butterfly chilly comply costly cowardly cuddly curly \
     daily deadly early elderly family fatherly fly folly friendly ghastly ghostly gully hilly holy \
     homely imply italy jelly jolly july kindly leisurely likely lily lively lonely lovely manly \
     melancholy monopoly monthly motherly multiply nightly oily only orderly rally rely reply scholarly \
     silly sly smelly supply surly tally timely ugly unlikely weekly woolly yearly"
        .split(' ')
        .collect()
});

/// Participles that are adjectives of a state: "she was tired" has nobody who tired her.
pub static STATES: Words = LazyLock::new(|| {
    "accustomed advanced aged alarmed amazed amused annoyed ashamed bored confused crooked delighted \
     determined disappointed embarrassed engaged excited exhausted frightened hundred inclined indeed \
     interested married naked pleased prepared puzzled ragged relieved rugged sacred satisfied scared \
     shocked supposed surprised terrified tired used wicked worried wretched"
        .split(' ')
        .collect()
});

/// Past participles without -ed.
pub static IRREGULAR: Words = LazyLock::new(|| {
    "beaten begun bent bitten blown born borne bought bound broken brought built burnt caught chosen cut \
     dealt done drawn driven drunk eaten fed felt flung forbidden forgiven forgotten fought found frozen \
     given ground grown heard held hidden hit hung hurt kept known laid led left lent let lit lost made \
     meant met overheard overthrown paid proven put read rung said seen sent set sewn shaken shot shown \
     shut slain sold spent split spoken spread stolen struck stuck sung sunk swept sworn taken taught \
     thought thrown told torn trodden understood undone unsaid won worn wound woven written"
        .split(' ')
        .collect()
});

/// Abbreviations that a name follows.
pub static TITLES: Words = LazyLock::new(|| {
    "Adm Capt Cdr Col Cpt Dr Fr Gen Gov Hon Lt Maj Mlle Mme Mr Mrs Ms Mx Prof Rep Rev Sen Sgt St cf vs"
        .split(' ')
        .collect()
});
