// The first letter of the pinyin of the Chinese characters that labels are made of, so that `yx` finds 运行. A character that is
// not here adds nothing; a test tells when a label of the palette has one.

const CHARACTERS: Record<string, string> = {
  a: "按",
  b: "不保包变备并本板标比版编补表被败避部闭",
  c: "从传储凑出创参处存尝差常成持撤操查槽次此池测称策草藏触超重错除",
  d: "到动单叠吊地多大定对导带度当待打断档点登的第等读调达队",
  e: "而",
  f: "分发复峰放方服法符范覆负",
  g: "个供共关功工改更果格概盖稿管给规该跟过隔高",
  h: "会何划化号合后含和好忽恢或户换话还",
  j: "交仅件健几加即及均基将就局建截拒据捷接机校检紧级结绝继脚节见角解计记距较辑近进键间集",
  k: "可宽康开快括框看空",
  l: "两了令例列历另录来流浏率理留略离立类络联览连链",
  m: "名命密描模每没目码面",
  n: "你内能",
  p: "偏匹品屏平排牌盘跑配",
  q: "全其切前区取启器弃强情期权求浅清确签缺群请起",
  r: "人仍任入如容日认",
  s: "三上事他使删剩受失始它实审尚属式所授搜收数时是束松深生省示稍筛索缩色视设试输述适速随首",
  t: "停同图头态条添统跳退途通题",
  w: "为位务围完尾往文无未网误问",
  x: "下信修先写响型小效新显析消现相系线绪续行许询详象选销限陷需项",
  y: "一与业也予于以优余允元印原员因已应异有源用由移要言语运邀钥隐页验",
  z: "中主之作值做再则制只在字志执找择摘整早暂最止正注状知种终置者自至诊责账资走足载这钟",
};

const LETTERS = new Map(
  Object.entries(CHARACTERS).flatMap(([letter, characters]) =>
    [...characters].map((character) => [character, letter] as const),
  ),
);

export const isChinese = (character: string) => /[\u4e00-\u9fff]/.test(character);

/** `gl` of 概览. What is not Chinese stays as it is: `api wd` of API 文档. */
export function initials(text: string): string {
  let found = "";
  for (const character of text) found += isChinese(character) ? (LETTERS.get(character) ?? "") : character;
  return found;
}

export const hasInitial = (character: string) => LETTERS.has(character);
