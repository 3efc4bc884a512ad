/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of texts that try to give a model orders, each rule a phrase of it. What a rule
 * weighs is how seldom an honest document says it: SCAN_CLEAR (4) marks a passage by itself, less
 * has to meet other rules within a stretch of words (scan.c). A rule that describes says that the
 * phrase just before its end is told of or meant for others, and takes its weight.
 * Raise SCAN_RULES_VERSION with any change.
 *
 * A pattern is elements parted by one blank:
 *   word|word      one of these words      [word|word]   the same, or nothing
 *   rule(s)        with or without ending  @name         one of that class
 *   ..3            up to three words of the same sentence
 *   '<!'           this punctuation; any other between words is passed over
 *   LINE           the start of a line     DISGUISED, HIDDEN   signs of scan_match.h
 * The first and the last element cannot be optional. Words are folded as in scan_words.h, so case,
 * accents, apostrophes, width, look-alikes and invisible characters do not matter; scripts without
 * spaces are written as pairs of characters. */
#include "service/retrieval/scan_rules.h"

const struct scan_class SCAN_CLASSES[] = {
    {"ignore", "ignore disregard forget override overrule bypass discard neglect dismiss"},
    {"drop", "ignore disregard forget"},
    {"prior", "previous previously prior above preceding earlier foregoing former initial original "
              "existing past old current"},
    {"order", "instruction(s) prompt(s) rule(s) direction(s) guideline(s) directive(s) command(s) "
              "constraint(s) restriction(s) order(s) programming guidance guardrail(s)"},
    {"limit", "safety security ethical ethics content moral moderation"},
    {"check", "check(s) filter(s) guideline(s) rule(s) restriction(s) protocol(s) measure(s) "
              "policy policies guardrail(s) constraint(s) instruction(s)"},
    {"model", "ai llm llms assistant(s) agent(s) model(s) chatbot(s) bot chatgpt gpt claude "
              "gemini copilot llama"},
    {"bot", "ai llm llms chatbot(s) chatgpt"},
    {"answer", "response(s) reply replies answer(s) output(s) message summary completion"},
    {"say", "say print output write echo state display repeat show reveal tell reply respond "
            "answer return include mention"},
    {"subject", "declaration(s) option(s) rule(s) compiler(s) interpreter(s) parser(s) linter(s) "
                "directive(s) setting(s) flag(s) argument(s) parameter(s) browser(s) server(s) "
                "entries pattern(s) value(s) variable(s) file(s) section(s) statement(s) block(s) "
                "selector(s) plugin(s) module(s) driver(s) implementation(s) program(s) they that "
                "which"},
    {"technical", "rule(s) directive(s) constraint(s) restriction(s) order(s) command(s) "
                  "direction(s)"},
    {"audience", "patients drivers students pupils parents visitors passengers guests employees "
                 "volunteers residents nurses teachers staff teams applicants candidates voters "
                 "travellers travelers tenants players participants cyclists pilots contractors"},
    {"reveal",
     "reveal show print display output repeat tell give share disclose leak expose recite "
     "echo encode translate summarize dump list write send"},
    {"inner", "system initial original hidden secret internal confidential initiating preloaded"},
    {"prompt", "prompt(s) instruction(s) preprompt message directives guidelines rules"},
    {"secret", "password passwords passphrase passcode credentials"},
    {"user", "user(s) human person customer client operator"},
    {"not", "not dont never without avoid cannot cant mustnt"},
    {"send", "send forward email mail upload post transmit exfiltrate transfer submit copy"},
    {"read", "read open access load cat fetch retrieve get collect gather extract"},
    {"private", "secret(s) credentials ssh rsa passwd env passwords keys mcp"},
    {"boss", "developer creator administrator admin boss owner master programmer maker engineer "
             "supervisor"},
    {"maker", "openai anthropic google meta microsoft deepmind"},
    {"persona", "dan dude stan evil jailbreak jailbroken unrestricted uncensored unfiltered god "
                "sudo"},
    {"mode", "god dan dude jailbreak jailbroken unrestricted uncensored sudo"},
    {"place", "code codebase implementation algorithm solution program script project answer "
              "response reply output explanation elucidation"},
    {"snippet", "snippet(s) block(s) excerpt section segment fragment"},
    {"ask", "tell give share confirm provide reveal send show disclose write print encode say"},
};
const size_t SCAN_CLASSES_N = sizeof(SCAN_CLASSES) / sizeof(SCAN_CLASSES[0]);

const struct scan_rule SCAN_RULES[] = {
    /* --- What was said before shall no longer hold. --- */
    {"override_prior", 4,
     "@ignore [any|all|every|each] [and] [of] [all|any] [the|your|my|these|those|our] [all] @prior "
     "[and] [system|safety|user|other] @order"},
    {"override_own", 4,
     "@ignore [any|all|every] [of] your [own] [system|safety|other|ethical] @order|training"},
    {"override_typed", 4, "@drop [all|any] [of] [the|your|my] previous|prior ..2 do|instead"},
    {"override_above", 3,
     "@drop [all|everything|anything] [of] [the|what] above|before|preceding and|instead"},
    {"override_said", 4,
     "@ignore everything|anything|whatever|all [that|of] [what] [you|i|we] [were|was|have|had|ve] "
     "[been|previously|just] told|said|instructed|learned|given|know|above|before"},
    {"override_self", 4,
     "@drop everything|anything|whatever|all [that] you know|knew|learned ..2 about "
     "being|your|yourself|rules|ethics|safety"},
    {"override_later", 4,
     "@drop all|any|the|your|these [of] [the|your] @order ..3 "
     "above|before|previously|earlier|given"},
    {"override_all", 4,
     "@drop all|every [of] [the|your] [other] "
     "instruction(s)|prompts|rules|guidelines|directives|constraints"},
    {"override_any", 3, "@drop any [other] instruction(s)|prompts|rules|guidelines|directives"},
    {"override_limits", 3, "@drop|bypass|override [all|any] [of] [the|your|its] @limit @check"},
    {"override_source", 4,
     "@drop [the|this|that] webpage|page|website|document|article|email|table|paper|text|question "
     "and|we ..2 @say|conclude|declare|claim|instead"},
    {"override_ask", 3, "@drop ..4 and|then [instead|just] @say ..3 @secret|system|prompt"},
    {"not_follow", 3, "@not|stop [to] follow|following|obey|obeying|heed ..2 @prior|your @order"},
    {"need_not_follow", 2,
     "you ..1 not|dont|never|longer have|need to follow|obey|abide|respect|heed ..2 @order|policy|"
     "policies"},
    {"new_orders", 2,
     "new|updated|revised|real|actual|true [system] instruction(s)|directive(s)|orders ':'"},
    {"adhere", 1,
     "adhere|follow|obey|comply|execute ..3 following|below|new instruction(s)|command(s)|order(s)|"
     "directive(s)"},
    {"strictly", 1, "strictly adhere|follow|obey|comply"},
    {"from_now", 2, "from now on you|your|act|respond|answer|ignore|always|all|every"},

    /* --- A new role, or a model without its rules. --- */
    {"now_mode", 3,
     "you|youre|im|we [are] [now] [running] in|entering developer|maintenance|debug|god|admin|root|"
     "unrestricted|diagnostic mode"},
    {"enter_mode", 3, "enter|enable|activate|switch|unlock ..2 @mode mode"},
    {"now_persona", 2, "you|youre [are|will|shall] ..2 @persona"},
    {"act_as_model", 2,
     "act|acting|behave|roleplay|pretend|pretending|respond|simulate|immerse|impersonate "
     "[yourself|now] "
     "[as|like|to|into|in|that] [be|the|you] [are|role|were] [of] ..4 @persona|ai|model|@bot"},
    {"role_of", 3, "immerse|immersed|step ..2 into the role of ..3 ai|model|@bot"},
    {"anything_now", 4, "do anything now"},
    {"anything_all", 3, "perform|do|say|generate anything and everything|all"},
    {"broke_free", 3,
     "broken|break|broke|freed|free|escaped|liberated [free] of|from ..4 ai|confines|shackles|"
     "@maker"},
    {"unbound", 3,
     "not|never|no|without [longer] [have|having|be] [need] [to] bound|bounded|abide|abiding|"
     "confined|constrained|obligated [to] [by|to] ..3 rules|restrictions|limits|limitations|"
     "guidelines|policy|policies|laws|ethics|constraints"},
    {"no_limits", 3,
     "without|no|remove|removed|lift [any|all] [of] [the|your|its] [legal] [or|and] "
     "ethical|moral|censorship [or|and] [ethical|moral|legal] "
     "restrictions|guidelines|filters|limits|limitations|"
     "constraints|boundaries"},
    {"maker_rules", 3,
     "rules|policy|policies|guidelines|restrictions|limitations|instructions [that] "
     "[were|are|have] [been] set|imposed|made|given|enforced [on|to] [them|you|it] by @maker"},
    {"maker_policy", 1, "@maker content|usage|safety policy|policies|guidelines|restrictions"},
    {"unfiltered", 3,
     "unfiltered|uncensored|unrestricted|jailbroken|amoral [and] "
     "[unfiltered|uncensored|amoral|unethical] ai|@bot|response(s)|answer(s)|version"},
    {"never_refuse", 3,
     "never|cannot|cant [ever] refuse|decline|reject ..4 request(s)|prompt(s)|question(s)|order(s)|"
     "command|anything"},
    {"any_harm", 1,
     "illegal|harmful|unethical|dangerous [or|and] [illegal|harmful|unethical|dangerous] ..1 "
     "information|content|activities|instructions|requests|malware"},
    {"stay_persona", 2, "stay|staying|remain in character"},
    {"game_tokens", 2, "lose|deduct|deducted|subtract ..3 tokens|points|credits"},

    /* --- Marks that stand for another speaker. --- */
    {"fake_turn", 4, "'#' '(' system|user|assistant|developer message|prompt|instruction ')'"},
    {"fake_section", 2,
     "'##' system|developer|new|updated|admin|override|assistant|agent|ai "
     "[instruction(s)|configuration|prompt|policy] "
     "instruction(s)|directive|override|update|configuration|prompt|message"},
    {"bracket_system", 2,
     "'[' system|sys|override|admin|root|important|priority|jailbreak "
     "[message|note|override|instruction(s)|prompt|directive|request] ']'"},
    {"bracket_attack", 3, "'[' ..2 exfil|exfiltrate|exfiltration|injection|inject|hijack ..2 ']'"},
    {"template_token", 3,
     "'<|' im|system|user|assistant|start|end|endoftext|eot|begin "
     "[start|end|header|of|id] [header|text|id|turn|system|user|assistant] '|>'"},
    {"template_orders", 2,
     "'|>' [system|user|developer] [now] [you] must|shall|ignore|disregard|forget|send|transfer|"
     "delete|execute|reveal|output|print|always|never"},
    {"speaker_orders", 2, "LINE system|developer|administrator ':' you|ignore|forget|from|new"},
    {"template_inst", 2, "'[' inst ']'"},
    {"template_sys", 3, "'<<' sys|system '>>'"},
    {"hidden_tag", 3,
     "'<' hidden|secret|sidenote|invisible|backdoor|covert [instruction(s)|note|message] '>'"},
    {"important_tag", 2,
     "'<' important|critical|mandatory|urgent|directive|attention|override|admin "
     "[instruction(s)|note|message|prompt] '>'"},
    {"plain_tag", 1, "'<' information|info|system|instruction(s)|priority '>'"},
    {"mode_tag", 4, "'<' system|god|developer|debug|admin|root|dan|maintenance mode '>'"},
    {"comment_orders", 3,
     "'<!-' ..3 instruction(s)|prompt|override|injection|directive|hidden|ignore|shadow"},
    {"comment_model", 2, "'<!-' ..2 ai|agent|assistant|llm|model|bot|chatbot"},
    {"comment_told", 2,
     "'<!-' ..2 @bot|assistant(s)|agents|copilot|gemini ..6 "
     "must|should|never|always|when|recommend|ignore|say|tell|mention|output|include|dont"},
    {"hidden_orders", 2,
     "hidden|secret|shadow|covert|concealed|mandatory instruction(s)|directive(s)|command(s)|"
     "order(s)"},
    {"order_to_model", 2,
     "ai|agent|assistant|llm|model|bot|chatbot [system] instruction(s)|directive(s)|order ':'"},
    {"agent_update", 2,
     "agent|assistant|system|model|ai configuration|instruction|policy|prompt|behavior|behaviour "
     "update|override"},

    /* --- The user shall not notice. --- */
    {"keep_from_user", 3,
     "@not [to] tell|telling|mention|mentioning|inform|informing|reveal|revealing|notify|notifying|"
     "alert|alerting|disclose|warn|let ..4 @user"},
    {"keep_to_self", 3,
     "@not mention|mentioning|reveal|revealing|disclose|acknowledge ..3 you|youre|instruction(s) "
     "[are|were|have|did] accessing|reading|sending|doing|did|read|used|sent|to"},
    {"keep_secret", 4, "keep ..3 secret|hidden|confidential|private|invisible from [the] @user"},
    {"silently", 3,
     "silently|secretly|quietly|covertly|discreetly|surreptitiously [and] @send|@read|call|execute|"
     "run|add|include|append|invoke|bcc"},
    {"as_if_part", 3,
     "as if|though ..2 part|result of the|your ..2 result|results|output|answer|response|tool"},
    {"without_asking", 2,
     "without [first] asking|telling|informing|notifying|alerting ..2 me|user|permission|"
     "confirmation|anyone"},

    /* --- Files and secrets as parameters, work before the work. --- */
    {"tool_first", 3,
     "before|prior|whenever|when [to] [you] use|using|call|calling|invoke|invoking|run|running|"
     "execute|executing ..2 tool(s)|function(s) ..6 must|first|always|need ..2 @read|send|call"},
    {"must_read", 3, "must|should|first|always ..2 @read ..4 @private"},
    {"read_and_pass", 3,
     "@read ..5 and|then ..2 pass|send|include|put|supply|provide|submit|forward|append|attach ..4 "
     "content(s)|them|it|value(s)|data|result ..3 as|in|to|into|through|via"},
    {"pass_as_param", 2,
     "pass|send|provide|include|put|supply|place ..4 as|in|into|to|through|via [the|a|this] ..2 "
     "sidenote|parameter(s)|argument(s)"},
    {"wont_work", 2,
     "tool|function [will] wont|not|cannot work|function|run unless|otherwise|without"},
    {"send_all", 2,
     "@send ..3 all|entire|every|complete|full|contents|content ..5 email(s)|message(s)|file(s)|"
     "contacts|documents|history|conversation(s)|passwords|inbox|data ..4 to"},
    {"send_address", 1, "@send ..8 to ..4 '@'"},
    {"send_conversation", 1,
     "@send [the|this|our] [entire|whole|full] conversation|chat|dialogue|transcript [history|log] "
     "..2 to"},
    {"send_money", 2,
     "transfer|send|wire ..3 funds|money|savings|bitcoin ..1 to ..2 account|wallet|iban"},
    {"user_allows", 2,
     "@user|owner|administrator [has|have] [already] "
     "authorised|authorized|approved|permitted|allowed|instructed you "
     "to"},
    {"delete_trace", 2,
     "then|and|after delete|erase|remove [the|that|this] [sent] email|message|evidence|traces|"
     "logs|history"},

    /* --- Words put into the model's mouth. --- */
    {"say_before", 3,
     "output|print|write|echo|say|state|emit|type|display ..4 before|prior [to] "
     "[any|every|your|the|all|each] [other] response(s)|reply|answer|answering|responding|replying|"
     "summarizing|summarising|content|output|continuing"},
    {"say_then", 2, "first|now|then output|print|write|echo|say|emit|display ..2 then|first|and"},
    {"begin_answer", 3,
     "begin|start|prefix|preface|beginning|starting|end|ending [off] [every|all|each|any|your] "
     "your|next|every|all @answer with|by"},
    {"answer_must", 3, "@answer must|should|shall [always] begin|start|end with|by"},
    {"required_token", 2,
     "required|mandatory|compulsory [for|by] security|audit|compliance|safety|verification "
     "token|check|step|measure|marker"},
    {"by_beginning", 3, "by beginning|starting|prefixing|ending your|the [next] @answer"},
    {"prepend", 3,
     "prepend|append|prefix ..3 to [the] [start|beginning|end] [of] your|every|all [next] @answer"},
    {"compliance", 2, "compliance|validation|verification|audit|confirmation marker|token|tag"},
    {"carries_orders", 2,
     "carries|contains|includes|hides|embeds|holds a|an hidden|secret|mandatory|embedded "
     "instruction|directive|command|order"},
    {"acknowledge", 1, "to acknowledge|comply|validate"},
    {"say_only", 2, "@say only|exactly the|following ..2 and nothing|only else|that"},

    /* --- Spoken to the model itself. --- */
    {"to_you_model", 2, "to you [the|an|my] [language|helpful] @model"},
    {"to_all_models", 2, "to|for [the|any|all|every] @bot reading|processing|that|who|summarizing"},
    {"if_you_model", 3, "if you|youre [are] an|a|the ..1 @bot|assistant|agent|language"},
    {"note_to_model", 2,
     "attention|note|message|notice|memo|hey|dear|instruction(s) [to|for|from] [the|all|any] "
     "@bot|assistant(s)|copilot|gemini|scraper|crawler"},
    {"before_task", 4,
     "before you [can|may|will] solve|complete|continue|finish|proceed|answer|start|do ..3 "
     "task|request|question ..10 first|following|must"},
    {"do_first", 1,
     "do|perform|complete|execute [the] following|this|these first|immediately|instead"},
    {"task_given", 2,
     "task|request|question that|which i|we|you gave|give|asked|given ..2 "
     "in|originally|initially|before"},

    /* --- The prompt asked for. --- */
    {"ask_prompt", 4,
     "@reveal|what|whats [is|me|us|are|were|was] [all] [of] [the|your|its|my] "
     "[full|entire|exact|complete|current|own] @inner @prompt"},
    {"ask_included_prompt", 3,
     "@reveal ..3 including|with [the|your] initial|system|original prompt|instruction(s)|message"},
    {"ask_starting_you", 4, "starting|beginning|begins|starts with [the] [words|phrase] you are"},
    {"ask_told", 4, "what|how were you [initially|originally] told|instructed|programmed|prompted"},
    {"ask_rules", 3,
     "what|whats|summarize|list|describe|recite|paraphrase [are|were] your [exact|own|full] "
     "instructions|directives|prompt"},
    {"ask_verbatim", 2, "@reveal ..4 verbatim"},
    {"ask_configuration", 2,
     "@reveal [me|us] [the|your] system|initial|internal|full configuration"},
    {"ask_your_prompt", 4,
     "@reveal [me] [all] [of] your [full|entire|exact|complete|own] [@inner] "
     "prompt|instruction(s)|directives|programming"},
    {"ask_given", 3,
     "@reveal|encode|rot13|base64 ..3 text|message|messages|words|instructions|prompt [that] you "
     "[were|have|had|was] [been] given|provided|told|shown|received"},
    {"ask_above", 3,
     "@reveal [all] [of] [me] [the] [exact] everything|words|text|sentences|instructions|content "
     "above|preceding|"
     "before|verbatim"},

    /* --- Secrets and personal data asked of the model. --- */
    {"ask_secret", 4,
     "what|whats [is|are|was] your|our [own] [system|admin|secret|current] @secret"},
    {"ask_the_secret", 4, "what|whats [is|was] the [system|admin|secret] @secret '?'"},
    {"ask_secret_code", 2, "what|whats [is] the|your secret|access|activation code|key|word"},
    {"ask_you_secret", 4, "can|could|would|will you ..6 @ask ..2 your|our|the ..1 @secret"},
    {"tell_me_secret", 4, "@ask me|us ..2 the|your|our [own] [system|admin] @secret"},
    {"output_secret", 2,
     "output|print|reveal|leak|dump|disclose|exfiltrate|recite [the|your|our|all] [of] "
     "system|admin|root|master|secret @secret"},
    {"part_of_secret", 4,
     "letter|letters|digit|half|hint|clue of|about|to|for "
     "the|your|our [system|admin|secret] password|passphrase|passcode"},
    {"user_identity", 4,
     "@ask|what|whats [is|me|us] [the] users ..2 mothers|maiden|credit|social|bank|medical|"
     "passport|license"},
    {"need_secret", 3, "i need you to @ask ..3 @secret"},
    {"say_secret", 3, "would|if ..6 your @secret"},
    {"write_secret", 4,
     "@secret ..3 in|using|into|as [a] "
     "reverse|reversed|backwards|base64|leetspeak|leet|rot13|binary|hex|pig|morse|poem|haiku|"
     "emoji"},
    {"poem_of_secret", 4,
     "poem|haiku|song|story|riddle|acrostic ..2 about|with|containing the|your|our @secret"},
    {"ask_user_data", 3,
     "@reveal|what|whats|know ..5 users ..3 "
     "birth|birthday|initials|address|email|password|name|age|city|phone|salary|color|colour|"
     "balance|ssn"},
    {"ask_user_home", 4,
     "where do|does|did the user [currently|usually|now] live|work|reside|stay"},
    {"ask_your_data", 3, "users|customers|people in your database|memory|records"},
    {"ask_secret_for", 4,
     "what|whats [is|are] the @secret for|to|of our|your [own] "
     "system|account|database|server|network"},
    {"ask_code", 4, "what|whats [is] your|our secret|access|security code|key|word"},
    {"ask_about_user", 4,
     "what|whats [is|are] [the|a] users [first|last|current|favorite|favourite|home|date] [of] "
     "birth|birthday|age|salary|color|colour|food|city|hobby|income|nationality|occupation|"
     "initials|balance"},
    {"ask_personal_you", 3,
     "can|could|would you ..2 tell|give|share|provide me ..2 email|phone|home|birth "
     "address|number|date|day"},
    {"bank_balance", 2, "bank|account balance"},
    {"in_disguise", 2,
     "encode|write|provide|say|spell|express|give|tell|answer ..6 "
     "base64|rot13|leetspeak|morse|hexadecimal|pig|reversed"},
    {"urgent_that_you", 2, "important|urgent|critical|crucial|vital that you"},
    {"you_agreed", 2, "you agreed|promised|mentioned|said ..6 share|sharing|tell|our|open"},
    {"for_investigation", 2,
     "for an|the|this|my investigation|audit|emergency ..2 need|want|require"},
    {"can_trust", 2, "you can trust me"},
    {"can_you", 1, "can|could|would you [please] @reveal|explain|confirm"},
    {"ask_personal", 2, "tell|give [me] ..2 email|phone|home|birth address|number|date|day"},
    {"personal_is_public", 2, "personal data|information is public|shared|free"},
    {"need_to_know", 1, "need to know"},

    /* --- Claims of authority and invented worlds. --- */
    {"claim_boss", 3, "im|am|as your [new|only] @boss"},
    {"claim_office", 1, "im|am a|an|the ..1 @boss|officer|police|president|ceo"},
    {"system_check", 2,
     "running|performing|conducting|doing a|an|the [quick] system|security|diagnostic "
     "check|upgrade|update|test|audit"},
    {"for_this_check", 3, "for this|the check|upgrade|test|update|investigation|audit ..1 i need"},
    {"test_you", 2,
     "need|want to verify|assess|test|evaluate|check your knowledge|understanding|capabilities|"
     "abilities|memory"},
    {"made_by", 1, "as an ai|assistant|model ..1 developed|created|trained|made|built by"},
    {"imagine_we", 2,
     "imagine were|we|that|youre|you [are|were] [we|you] [are|were] ..1 "
     "in|on|a|an|studying|doing|having"},
    {"you_are_ai", 2, "you|youre [are] an ai"},
    {"lets_play", 2, "lets play|pretend|roleplay|imagine"},
    {"in_this_world", 2, "in|on this|that world|society|game|simulation|spaceship|universe"},
    {"hypothetically", 2, "hypothetically"},
    {"if_asked", 2, "if i were|was to ask"},
    {"override_mode", 2, "system override|takeover"},
    {"hypothetical", 2, "hypothetical scenario|situation|world where|in"},
    {"in_a_world", 2, "in a world|society|universe where"},
    {"we_might_say", 2, "we|you might|would|could|should state|say|conclude"},
    {"state_instead", 4, "@drop ..4 and state|declare|claim|conclude|announce"},
    {"comment_speaks", 2, "'<!-' ..12 you|your|please|we|password"},
    {"phish_alarm", 1, "account [has|was|is] [been] compromised|hacked|suspended"},
    {"phish_link", 1, "follow|click|visit [on] this|the|following link|url ..6 password|account"},
    {"into_summary", 2, "print|include|add|put|insert|mention ..4 in|into|to the|your summary"},
    {"fetch_and_send", 2,
     "retrieve|fetch|get|collect ..3 data|records|information and ..1 print|send|email"},
    {"output_following", 2, "please output|state|print|say|repeat|reply the|with [the] following"},
    {"as_authority", 2,
     "as an|the|your authority|expert|creator ..4 i suggest|recommend|order|need|require|demand"},
    {"consider_output", 2, "consider the output|result|answer|conclusion as|to"},

    /* --- Orders in pieces or in code. --- */
    {"tag_characters", 4, "HIDDEN"},
    {"disguised_word", 2, "DISGUISED"},
    {"disguised_words", 2, "DISGUISED ..6 DISGUISED"},
    {"encoded_text", 2, "ENCODED"},
    {"encoded_comment", 2, "'<!-' ENCODED"},
    {"in_parts", 2, "part 1|one|a ..12 part 2|two|b"},
    {"following_parts", 2, "using|from|of [the] following|these parts"},
    {"interlace", 2, "interlace|interleave|concatenate|unscramble [the] part|parts"},
    {"decode_this", 2,
     "decode|decipher|decrypt|unscramble this|the [following] ..2 "
     "caesar|base64|rot13|cipher|morse|binary|hex|string"},
    {"do_decoded", 2,
     "and|then tell|follow|execute|do|answer|print|obey ..3 it|message says|instructions|contains"},

    /* --- Code that a model is asked to put into its answer. --- */
    {"add_snippet", 2, "following|subsequent|below|ensuing|succeeding code @snippet"},
    {"code_reads", 1, "os environ|getlogin|uname|listdir"},
    {"code_reads_system", 1,
     "psutil|getpass|win32clipboard|imagegrab|pyautogui|pynput|winreg|keylogger|"
     "clipboard"},
    {"code_reads_platform", 1, "platform|pkg system|version|uname|node|resources"},
    {"code_reads_file", 1, "open|rb|read ..3 path|var|etc|home|file|csv|txt"},
    {"code_sends", 1, "requests|session|http post|put|request"},
    {"code_sends_raw", 1, "sendall|storbinary|sendmail|yagmail|smtplib|ftplib|socket|ftp|smtp"},
    {"code_fetches", 1, "requests|urllib|wget|curl get|request|https|http|urlopen"},
    {"code_foreign_host", 1,
     "target|attacker|remote|evil|exploit|malicious|victim ..1 "
     "server|service|com|url|py|computer|host"},
    {"code_runs", 2, "os|subprocess system|popen|call|run|check|execv"},
    {"code_runs_text", 2, "exec|eval|pickle open|loads|compile|requests|base64"},
    {"code_destroys", 2, "shutil|os rmtree|move|remove|unlink|removedirs"},
    {"code_encrypts", 1, "encryptor|ciphers|fernet|blowfish"},
    {"code_loops", 1, "while true"},
    {"code_spawns", 2, "multiprocessing|threading process|thread"},

    /* --- The same in other languages. --- */
    {"override_es", 4,
     "ignora|ignore|ignorar|ignoren|olvida|olvide|olviden|descarta|omite ..3 "
     "instrucciones|indicaciones|reglas|ordenes|directrices ..1 anteriores|previas|precedentes"},
    {"override_es_own", 4,
     "ignora|ignore|olvida|olvide todas [tus|las|sus] [las] [anteriores] "
     "instrucciones|reglas|indicaciones"},
    {"override_es_source", 4,
     "ignora|ignore|olvida la|el|este|esta pagina|documento|texto|correo|articulo [web] y ..1 "
     "di|declara|afirma|responde|escribe"},
    {"override_pt", 4,
     "ignore|ignora|ignorar|esqueca|esquece|desconsidere ..3 "
     "instrucoes|regras|orientacoes|ordens|diretrizes ..1 anteriores|previas|acima|precedentes"},
    {"override_fr", 4,
     "ignore|ignorez|ignorer|oublie|oubliez ..3 instructions|consignes|regles|directives ..1 "
     "precedentes|anterieures|ci|initiales"},
    {"override_de", 4,
     "ignoriere|ignorieren|vergiss|vergessen|missachte|missachten ..3 "
     "vorherigen|bisherigen|vorigen|obigen|fruheren|vorangegangenen ..1 "
     "anweisungen|regeln|befehle|vorgaben|instruktionen|anordnungen"},
    {"override_it", 4,
     "ignora|ignorate|ignorare|dimentica|dimenticate|trascura ..4 istruzioni|regole|indicazioni|"
     "direttive ..1 precedenti|sopra|ricevute"},
    {"override_it_prior", 4,
     "ignora|ignorate|dimentica ..2 precedenti istruzioni|regole|indicazioni"},
    {"override_nl", 4,
     "negeer|vergeet ..3 vorige|eerdere|voorgaande|bovenstaande instructies|opdrachten|regels"},
    {"override_pl", 4,
     "zignoruj|ignoruj|zapomnij ..3 poprzednie|wczesniejsze|powyzsze|poprzednich "
     "instrukcje|instrukcji|polecenia|zasady"},
    {"override_ru", 4,
     "игнорируй|игнорируйте|проигнорируй|проигнорируйте|забудь|забудьте ..3 "
     "предыдущие|прежние|прошлые|предыдущих инструкции|инструкциях|указания|правила|команды"},
    {"override_tr", 4,
     "önceki ..1 talimatları|talimatlari|komutları|komutlari ..2 yoksay|unut|görmezden"},
    {"override_id", 4, "abaikan|lupakan ..2 instruksi|perintah|petunjuk ..1 sebelumnya"},
    {"override_ar", 4, "تجاهل|انس ..2 التعليمات|الأوامر|الإرشادات ..1 السابقة"},
    {"override_hi", 4, "पिछले ..2 निर्देशों|निर्देश ..2 अनदेखा|नजरअंदाज|भूल"},
    {"override_zh", 4,
     "忽略|无视|無視|忘记|忘記|不要 ..6 以前|之前|前面|先前|上述|以上|上面|所有 ..4 "
     "指示|指令|命令|提示|规则|規則"},
    {"override_ja", 4, "以前|前の|これ|上記|今ま ..8 指示|命令|指令|ルー ..6 無視|忘れ"},
    {"override_ko", 4, "이전|위의|앞의|지금 ..6 지시|명령|규칙|지침 ..4 무시|잊어|잊으"},
    {"home_other", 4,
     "donde|ou|wo|dove|onde vive|habite|vit|wohnt|lebt|abita|mora|reside ..2 "
     "usuario|utilisateur|lutilisateur|benutzer|nutzer|utente|lutente"},
    {"home_pt", 4, "onde o usuario mora|vive|reside"},
    {"home_zh", 4, "用户 ..6 住在|居住"},
    {"secret_zh", 4, "密码|密碼 ..3 什么|什麼|多少"},
    {"secret_ja", 4, "ワー ード ..4 は何|教え 何で|えて"},
    {"secret_ko", 4, "비밀 ..1 번호 ..3 무엇|뭐야|뭐예|알려"},
    {"secret_ru", 4, "какой [у] [твой|ваш|тебя|вас] пароль"},
    {"secret_hi", 4, "पासवर्ड क्या"},
    {"secret_tr", 4, "şifre|şifren|şifreniz|parola|parolan nedir|ne"},
    {"secret_id", 4, "apa kata sandi|sandinya"},
    {"secret_nl", 4, "wat is het|je|jouw|uw wachtwoord"},
    {"secret_es", 4, "cual es la|tu|su contrasena|clave"},
    {"secret_pt", 4, "qual e a|sua [sua] senha"},
    {"secret_fr", 4, "quel est le|ton|votre mot de passe"},
    {"secret_de", 4, "wie|was lautet|ist das|dein|ihr|euer passwort|kennwort"},
    {"secret_it", 4, "qual e la|tua [tua] password|parola"},

    /* --- What tells of such an order, or gives it to somebody else. --- */
    {"tells_of_precedence", SCAN_DESCRIBES,
     "@subject [given|specified|set|listed|placed|later|on|in|from|at|that|which] "
     "[on|in|from|at|the|a|later|earlier] [the|a|this|command|same|user] "
     "[command|configuration|config] "
     "[line|file|level|section] [will|can|may|also|always|silently|simply] "
     "@ignore [any|all|every|each] [of] [the|their|its] [all] [@prior] [other] @technical"},
    {"tells_of_technical", SCAN_DESCRIBES,
     "@drop|override|bypass|discard [any|all|every] [of] [the|these] [@prior] [other] "
     "[foreign|unique|database|table|firewall|style] @technical "
     "during|when|while|in|on|for|at [the|a|an|this] "
     "import(s)|export(s)|migration(s)|restore|dump|build(s)|compilation|compiling|installation|"
     "table(s)|database|schema|file|gitignore|stylesheet|config"},
    {"tells_of_clicking", SCAN_DESCRIBES,
     "@prior @technical and|then [then] click|press|select|choose|tap|create|add"},
    {"tells_others", SCAN_DESCRIBES,
     "@audience [please|should|must|may|can|kindly|now] @ignore [any|all|every] [of] "
     "[the|your|our|these] @prior [safety|other] @order"},
    {"tells_of_product", SCAN_DESCRIBES,
     "do anything now with|in|from|using|that the|our|your|this"},
    {"tells_of_topic", SCAN_DESCRIBES,
     "everything|anything|whatever|all [that] you|we know|knew|learned|heard about|regarding"},
    {"tells_of_place", SCAN_DESCRIBES,
     "@ignore everything|anything|all before the|a|an|it|its|that"},
    {"tells_of_test", SCAN_DESCRIBES,
     "assert|asserts|assertequal|assertin|assertraises|expect|expects ..3 '(' [prompt|text|input] "
     "@ignore "
     "[any|all|every] [of] [the|your|my] @prior @order"},
    {"tells_how", SCAN_DESCRIBES, "how to @reveal [the|your] [full|current] @inner @prompt"},
    {"tells_how_by", SCAN_DESCRIBES,
     "to @reveal [the] [full|current] @inner @prompt echo|run|edit|press|set|export"},
    {"tells_of_service", SCAN_DESCRIBES,
     "send|share|give [me|us] [over] [the|our|your] @secret for|to|of [the|our|a] "
     "staging|test|demo|development|printer|wifi|guest"},
    {"tells_ja", SCAN_DESCRIBES, "教え えて ては|ても|てい"},

    /* --- Talk of attacks: excuses what is near it. --- */
    {"about_attacker", 0, "attacker(s)|adversary|adversaries|adversarial|adversarially"},
    {"about_injection", 0, "prompt injection|injections"},
    {"about_jailbreak", 0, "jailbreaks|jailbreaking|jailbreak attempt(s)|attack(s)|technique(s)"},
    {"about_template", 0, "chat|prompt template(s)|format|markup"},
    {"about_malicious", 0, "malicious"},
    {"about_defence", 0,
     "mitigation(s)|mitigate|mitigates|vulnerability|vulnerabilities|exploit|exploits|detect|"
     "detection"},
};
const size_t SCAN_RULES_N = sizeof(SCAN_RULES) / sizeof(SCAN_RULES[0]);
