"""Writing: documents as values, and one visitor for each form.

A document is made by one of

    page.make_page(solution, contents) -> Page                  self, cross, worksheets, keys
    reports.marking.marking_document(marking, full=) -> Document
    reports.many.answers_document(answers, full=) -> Document   a class
    studies.variation.variation_document(variation, full=) -> Document
    studies.simulation.simulation_document(simulations, full=) -> Document
    studies.aim.aim_document(aim, full=) -> Document

and any of them is written by

    terminal.write_tables(document, screen) -> texts for frames.on_screen(console, texts, screen)
    terminal.write_notes(document) -> the notes beside the tables
    markdown.write_markdown(document, picture=) -> str
    latex.write_latex(document, standalone=, picture=) -> str

Data are functions over what they hold: page_data.write_csv(page), write_csv_files(page),
write_json(page) and write_npz(page, file);
reports.json_text.marking_as_json(marking),
reports.many.as_json(answers), reports.many.as_csv(answers, names);
and of each study studies.….…_as_json, …_as_csv, write_…_npz.
"""
