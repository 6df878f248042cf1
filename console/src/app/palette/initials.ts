// The first letter of the pinyin of the Chinese characters that labels are made of, so that `yx` finds 运行. A character that is
// not here adds nothing; a test tells when a label of the palette has one.

const CHARACTERS: Record<string, string> = {
  a: "按",
  b: "不保别包变备并本板标比版班编补表被败避部闭",
  c: "产从传储凑出创参处存尝差常成持撤操查槽次此池测称程窗策草藏触超迟采重错除",
  d: "代但到动单叠吊地多大定对导带度当待打抖断档段点登的短第等答读调达都队",
  e: "二而",
  f: "分发复峰放方服法符范覆访负返",
  g: "个供共关功告工改故更果格概滚盖稿管给规该跟过隔高",
  h: "会何划化号合后含和回好很忽恢或户换活绘获话还",
  j: "久交仅件决几击加即及均基将就局建径截拒捷接旧机校检禁紧级经结绝继脚节见角解警计记距较辑近进键间集",
  k: "刻口可宽开快括框看空",
  l: "两了令例六列历另录来流浏率理留略离立类络联览赖路连链",
  m: "么名命密描明末某模每没目码面",
  n: "你内年能",
  p: "偏匹品屏平排牌盘跑配铺",
  q: "全其切前区去取启器弃强情期权求浅清确签缺群请起",
  r: "人仍任入如容日认让",
  s: "三上事什他使删剩受四失始它守实审尚属式所授搜收数时是束松树深生省示稍筛索缩色虽视设试说谁输述送适速随顺首",
  t: "体停同图填天头态拖提替条添统跳退途通题",
  w: "为五位务围外完尾往我文无晚未网误问",
  x: "下休信修先写向响型小序形息效新显析消现相系线绪续行许询详象选销闲限陷需项",
  y: "一与业也予于以优余依允元印原员因已应延异引有样永源溢演用由疑移要言语运邀钥隐页预验",
  z: "中主之作值做再准则制只周在址奏子字志执找择摘整早暂最止正注照状知种组终置者自至诊责账资走足载这遵钟障",
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
